import { describe, expect, test } from 'vitest';
import { planBudget } from '#sandbox/controllers/plan-budget.ts';
import type { Budget, World } from '#sandbox/controllers/wire-workloads.ts';
import { NOW, pod, replicaSet, statusIn } from './build.ts';

describe('planBudget', () => {
  const world: World = { pods: [], replicaSets: [], deployments: [], jobs: [], budgets: [], quotas: [] };
  const budget = (spec: Budget['spec'], status: Budget['status'] = {}): Budget => ({
    metadata: { name: 'web', namespace: 'team-a', generation: 3 },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
    status,
  });
  const three = [pod('a'), pod('b'), pod('c')];

  test.each([
    ['a number of pods that must stay', { minAvailable: 2 }, three, 3, 1],
    ['a percentage of what is wanted', { minAvailable: '50%' }, three, 2, 2],
    ['a number of pods that may be missing', { maxUnavailable: 1 }, three, 2, 2],
    ['pods that are not ready', { minAvailable: 1 }, [pod('a'), pod('b', { isReady: false })], 2, 0],
    ['pods that are leaving', { minAvailable: 1 }, [pod('a'), pod('b', { deleted: true })], 2, 0],
    ['pods that have ended', { minAvailable: 0 }, [pod('a', { phase: 'Succeeded' })], 0, 0],
  ])('counts %s', (_what, spec, pods, expectedPods, disruptionsAllowed) => {
    const writes = planBudget(budget(spec), { ...world, pods, replicaSets: [replicaSet] }, NOW);
    expect(statusIn(writes)).toMatchObject({ observedGeneration: 3, expectedPods, disruptionsAllowed });
  });

  test('an eviction that was counted and not yet seen still counts', () => {
    const counted = budget({ minAvailable: 1 }, { disruptedPods: { a: new Date(NOW - 1_000).toISOString() } });
    expect(statusIn(planBudget(counted, { ...world, pods: three }, NOW))).toMatchObject({
      currentHealthy: 2,
      disruptionsAllowed: 1,
    });
  });

  test('one that came to nothing is forgotten after two minutes', () => {
    const stale = budget({ minAvailable: 1 }, { disruptedPods: { a: new Date(NOW - 121_000).toISOString() } });
    expect(statusIn(planBudget(stale, { ...world, pods: three }, NOW))).toMatchObject({
      currentHealthy: 3,
      disruptedPods: { a: null },
    });
  });
});
