import { describe, expect, test } from 'vitest';
import { runAlone, runWithAgent } from './episode.ts';
import type { LawNode } from './node.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';

const HALF_AN_HOUR_MS = 1_800_000;
const PLAIN: LawPod = {
  ...{ name: 'plain', namespace: 'a', priority: 1000, requestMiB: 100, isGuaranteed: false, kind: 'ReplicaSet' },
  ...{ wish: undefined, graceSeconds: 30, startMiB: 110, growsMiB: 0, growsFromMs: 0, mostMiB: 110 },
  ...{ shutdownMs: 50, hangsMs: 0, isMeasured: true, fault: undefined, resize: undefined },
  ...{ deletedAtMs: undefined, comesBack: false },
};
const POLICY: PolicyChoice = {
  ...{ mode: 'Enforce', hardMiB: 250, softMiB: 400, softGraceSeconds: 30, reclaimMiB: undefined },
  ...{ mostGraceSeconds: 30, ranking: 'Kubernetes', missingStats: 'Never', daemonSets: 'Last' },
  ...{ concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespace: 4, perOwnerPerHour: 3 },
  ...{ optOutCeiling: 1_000_000, optOut: 'WithinRequest', withinRequest: false },
};

/** A BestEffort pod grows by 2 MiB a second beside ten pods of priority 1000 slightly above their requests. */
function episode(hog: Partial<LawPod>, policy: Partial<PolicyChoice> = {}): Scenario {
  const growing: LawPod = { ...PLAIN, name: 'hog', priority: 0, requestMiB: 0, startMiB: 100, growsMiB: 2 };
  const quiet = Array.from({ length: 10 }, (_, index): LawPod => ({ ...PLAIN, name: `quiet-${index}` }));
  return {
    ...{ seed: 0, capacityMiB: 8192, outsideMiB: 6492, outsideGrowsMiB: 0, api: [], isTainted: false, nearMs: 200 },
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

function gone({ pods, events }: LawNode): Gone {
  const lost = events.filter(({ kind }) => kind === 'kubelet' || kind === 'kernel');
  const names = new Set(lost.map(({ text }) => text.replace(/-\d+ uses.*/, '')));
  for (const { spec, acceptedAtMs } of pods) if (acceptedAtMs !== undefined) names.add(spec.name);
  const byOthers = lost.find(({ text }) => text.startsWith('hog'))?.atMs ?? Infinity;
  const byAgent = pods.find(({ spec }) => spec.name === 'hog')?.acceptedAtMs ?? Infinity;
  return { quiet: [...names].filter((name) => name !== 'hog').length, hogAtMs: Math.min(byOthers, byAgent) };
}

const NO_WITNESS = { onPass: () => undefined, onEviction: () => undefined, onTick: () => undefined };

describe('half an hour with a pod that grows and may not be evicted', () => {
  test.each<[why: string, hog: Partial<LawPod>, policy?: Partial<PolicyChoice>]>([
    ['a budget', { fault: 'budget' }],
    ['two budgets', { fault: 'twoBudgets' }],
    ['a webhook that fails', { fault: 'evictFails' }],
    ['a read that fails', { fault: 'getFails' }],
    ['a refusal', { fault: 'forbidden' }],
    ['an object that cannot be read', { fault: 'unreadable' }],
    ['missing statistics', { isMeasured: false }],
    ['kube-system', { namespace: 'kube-system' }],
    ['evict: never', { wish: 'never' }],
    ['evict: never, which always counts', { wish: 'never' }, { optOut: 'Always' }],
    ['evict: last', { wish: 'last' }],
    ['a limit of its owner', {}, { perOwnerPerHour: 0 }],
    ['a termination that hangs', { shutdownMs: Infinity, hangsMs: HALF_AN_HOUR_MS }],
    ['a grace period of an hour', { shutdownMs: Infinity, graceSeconds: 3600, deletedAtMs: 20_000 }],
    ['a controller that brings it back', { comesBack: true }],
    ['nothing', {}],
  ])('because of %s loses no pod that the kubelet alone would keep, and that pod no later', async (_, hog, policy) => {
    const scenario = episode(hog, policy);
    const [alone, beside] = [gone(runAlone(scenario)), gone(await runWithAgent(scenario, NO_WITNESS))];
    expect(beside.quiet).toBeLessThanOrEqual(alone.quiet);
    expect(beside.hogAtMs).toBeLessThanOrEqual(alone.hogAtMs);
  });
});
