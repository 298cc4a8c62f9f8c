import type { PlannedPreemption, Scenario } from './plan-scenario.ts';

/** The observed outcome; pods are `namespace/name`. */
export interface Happenings {
  readonly refused: readonly { readonly pod: string; readonly reason: string }[];
  /** `because` says why Plimsoll changed the preemption; `madeRoomFor` is null while that pod is on no node. */
  readonly preempted: readonly {
    readonly pod: string;
    readonly madeRoomFor: string | null;
    readonly because: string;
  }[];
  /** Pods that opted out of preemption and still run. */
  readonly spared: readonly string[];
  readonly evicted: readonly { readonly pod: string; readonly because: string }[];
  /** Names of the services whose first pod still runs, never restarted. */
  readonly survived: readonly string[];
  /** From the node being short of memory to the eviction; `undefined` if there was none. */
  readonly secondsToEvict: number | undefined;
}

/** How a refusal by one of our webhooks begins; what the API server itself refuses does not count. */
const OUR_REFUSAL = /^admission webhook "[a-z]+\.plimsoll\.dev" denied the request: /;

/** What should have happened and did not, one sentence each; empty if all is well. */
export function findShortcomings(scenario: Scenario, seen: Happenings): readonly string[] {
  const { services, refused, hog } = scenario;
  const refusedPod = `${refused.namespace}/${refused.name}`;
  const hogPod = `${hog.namespace}/${hog.name}`;
  const names = services.map(({ namespace, name }) => `${namespace}/${name}`);
  const lost = names.filter((name) => !seen.survived.includes(name));
  const others = seen.evicted.filter(({ pod }) => pod !== hogPod);
  return [
    ...(seen.refused.some(({ pod, reason }) => pod === refusedPod && OUR_REFUSAL.test(reason))
      ? []
      : [`pod ${refusedPod} was not refused by the webhook`]),
    ...preemptionShortcomings(scenario.preemption, seen),
    ...(seen.evicted.some(({ pod }) => pod === hogPod) ? [] : [`pod ${hogPod} was not evicted`]),
    ...others.map(({ pod }) => `pod ${pod} was evicted though it kept to its request`),
    ...lost.map((name) => `service ${name} did not survive`),
  ];
}

function preemptionShortcomings(
  { optedOut, yielding, newcomer }: PlannedPreemption,
  { preempted, spared }: Happenings,
): readonly string[] {
  const [optedOutPod, yieldingPod, newPod] = [optedOut, yielding, newcomer].map(
    (pod) => `${pod.namespace}/${pod.name}`,
  );
  const [victim] = preempted;
  return [
    ...(preempted.length === 1 && victim?.pod === yieldingPod ? [] : [`not pod ${yieldingPod} alone was preempted`]),
    ...(victim?.madeRoomFor === newPod ? [] : [`pod ${newPod} was not placed`]),
    ...(victim?.because ? [] : ['Plimsoll gave no reason for changing a preemption']),
    ...(spared.includes(optedOutPod ?? '') ? [] : [`pod ${optedOutPod} opted out of preemption and does not run`]),
  ];
}

/** The last line of `npm start -- --once`. */
export function resultLine(seen: Happenings): string {
  return JSON.stringify({ ...seen, secondsToEvict: seen.secondsToEvict ?? null });
}
