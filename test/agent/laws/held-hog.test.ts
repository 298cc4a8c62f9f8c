import { describe, expect, test } from 'vitest';
import { runAlone, runWithAgent, UNWATCHED } from './episode.ts';
import { gone, HALF_AN_HOUR_MS, quietEpisode } from './quiet-episode.ts';
import type { LawPod, PolicyChoice } from './scenario.ts';

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
    const scenario = quietEpisode(hog, policy);
    const [alone, beside] = [gone(runAlone(scenario)), gone(await runWithAgent(scenario, UNWATCHED))];
    expect(beside.quiet).toBeLessThanOrEqual(alone.quiet);
    expect(beside.hogAtMs).toBeLessThanOrEqual(alone.hogAtMs);
  });
});
