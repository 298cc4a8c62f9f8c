import type { LawNode } from './node.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';
import { PLAIN_POLICY } from './shrink.ts';

export const HALF_AN_HOUR_MS = 1_800_000;
const PLAIN: LawPod = {
  name: 'plain',
  namespace: 'a',
  priority: 1000,
  requestMiB: 100,
  isGuaranteed: false,
  kind: 'ReplicaSet',
  wish: undefined,
  graceSeconds: 30,
  startMiB: 110,
  growsMiB: 0,
  growsFromMs: 0,
  mostMiB: 110,
  shutdownMs: 50,
  hangsMs: 0,
  isMeasured: true,
  fault: undefined,
  resize: undefined,
  deletedAtMs: undefined,
  comesBack: false,
};
const POLICY: PolicyChoice = { ...PLAIN_POLICY, mode: 'Enforce', hardMiB: 250, softMiB: 400, softGraceSeconds: 30 };

/** A BestEffort pod that grows by 2 MiB a second, unless changed, beside ten pods of priority 1000 slightly above their requests. */
export function quietEpisode(hog: Partial<LawPod>, policy: Partial<PolicyChoice> = {}): Scenario {
  const growing: LawPod = { ...PLAIN, name: 'hog', priority: 0, requestMiB: 0, startMiB: 100, growsMiB: 2 };
  const quiet = Array.from({ length: 10 }, (_, index): LawPod => ({ ...PLAIN, name: `quiet-${index}` }));
  return {
    seed: 0,
    capacityMiB: 8192,
    outsideMiB: 6492,
    outsideGrowsMiB: 0,
    api: [],
    isTainted: false,
    nearMs: 200,
    pods: [...quiet, { ...growing, mostMiB: 100_000, ...hog }],
    policy: { ...POLICY, ...policy },
    kubelet: { hardMiB: 100, softMiB: undefined, softGraceSeconds: 5, mostGraceSeconds: 0, phaseMs: 4000 },
    lengthMs: HALF_AN_HOUR_MS,
  };
}

interface Gone {
  /** By the agent, the kubelet or the kernel. */
  readonly quiet: number;
  /** When the pod that grows was evicted or killed, by anyone. */
  readonly hogAtMs: number;
}

/** What became of the pods of such an episode. */
export function gone({ pods, events }: LawNode): Gone {
  const lost = events.filter(({ kind }) => kind === 'kubelet' || kind === 'kernel');
  const names = new Set(lost.map(({ text }) => text.replace(/-\d+ uses.*/, '')));
  for (const { spec, acceptedAtMs } of pods) if (acceptedAtMs !== undefined) names.add(spec.name);
  const byOthers = lost.find(({ text }) => text.startsWith('hog'))?.atMs ?? Infinity;
  const byAgent = pods.find(({ spec }) => spec.name === 'hog')?.acceptedAtMs ?? Infinity;
  return { quiet: [...names].filter((name) => name !== 'hog').length, hogAtMs: Math.min(byOthers, byAgent) };
}
