import type { Breach } from './breach.ts';
import { judge } from './laws.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';

type Change = (scenario: Scenario) => Scenario;

const PLAIN_POD: Partial<LawPod> = {
  fault: undefined,
  resize: undefined,
  wish: undefined,
  deletedAtMs: undefined,
  growsMiB: 0,
  graceSeconds: 30,
  shutdownMs: 50,
  hangsMs: 0,
  isMeasured: true,
  kind: 'Bare',
  namespace: 'a',
  priority: 0,
  isGuaranteed: false,
  comesBack: false,
  growsFromMs: 0,
};
/** Settings that matter in no episode by themselves. */
export const PLAIN_POLICY = {
  softMiB: undefined,
  reclaimMiB: undefined,
  ranking: 'Kubernetes',
  missingStats: 'Never',
  daemonSets: 'Last',
  concurrent: 1,
  perMinute: 2,
  perTenMinutes: 4,
  perNamespace: 4,
  perOwnerPerHour: 3,
  optOutCeiling: 1_000_000,
  optOut: 'WithinRequest',
  withinRequest: false,
  mostGraceSeconds: 30,
} as const satisfies Partial<PolicyChoice>;

/** The smallest episode found that still breaks the same law for no other cause. */
export async function shrink(scenario: Scenario, breach: Breach): Promise<Scenario> {
  const causes = breach.cause.split(' + ');
  const isSame = ({ law, cause }: Breach): boolean =>
    law === breach.law && (law !== 'inside' || cause.split(' + ').every((each) => causes.includes(each)));
  let smallest = scenario;
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const change of changesOf(smallest)) {
      const next = change(smallest);
      if (next === smallest || !(await judge(next)).breaches.some(isSame)) continue;
      smallest = next;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function changesOf(scenario: Scenario): readonly Change[] {
  const { pods } = scenario;
  return [
    ...pods.map((pod) => (from: Scenario) => withoutPod(from, pod)),
    ...changes(scenario, { api: [], isTainted: false, outsideGrowsMiB: 0 }),
    ...changes(scenario.kubelet, { softMiB: undefined }).map((change) => (from: Scenario) => ({
      ...from,
      kubelet: change(from.kubelet),
    })),
    ...changes(scenario.policy, PLAIN_POLICY).map((change) => (from: Scenario) => ({
      ...from,
      policy: change(from.policy),
    })),
    ...pods.flatMap((pod) =>
      changes(pod, PLAIN_POD).map((change) => (from: Scenario) => withPod(from, pod, change(pod))),
    ),
  ];
}

/** One change for each field that is not plain yet. */
function changes<T extends object>(from: T, plain: Partial<T>): readonly ((before: T) => T)[] {
  const keys = Object.keys(plain) as (keyof T)[];
  const isPlain = (key: keyof T): boolean => JSON.stringify(from[key]) === JSON.stringify(plain[key]);
  return keys.filter((key) => !isPlain(key)).map((key) => (before) => ({ ...before, [key]: plain[key] }));
}

function withPod(scenario: Scenario, pod: LawPod, next: LawPod): Scenario {
  return { ...scenario, pods: scenario.pods.map((each) => (each === pod ? next : each)) };
}

/** Its memory stays used. */
function withoutPod(scenario: Scenario, pod: LawPod): Scenario {
  const pods = scenario.pods.filter((each) => each !== pod);
  return { ...scenario, pods, outsideMiB: scenario.outsideMiB + pod.startMiB };
}
