import { describe, expect, test } from 'vitest';
import { nextSizes, rolloutBounds, scaled } from '#sandbox/controllers/plan-deployment.ts';
import type { Deployment } from '#sandbox/controllers/wire-workloads.ts';

const none = { replicas: 0, available: 0 };

describe('nextSizes', () => {
  const facts = { wanted: 4, surge: 1, unavailable: 1, isRecreate: false, current: none, old: [] };

  test.each([
    ['starts all at once where nothing runs', {}, { current: 4, old: [] }],
    ['surges by one and lets one old pod go', { old: [{ replicas: 4, available: 4 }] }, { current: 1, old: [3] }],
    [
      'waits while the new pod is not available',
      { current: { replicas: 2, available: 0 }, old: [{ replicas: 3, available: 3 }] },
      { current: 2, old: [3] },
    ],
    [
      'goes on when it is',
      { current: { replicas: 2, available: 2 }, old: [{ replicas: 3, available: 3 }] },
      { current: 2, old: [1] },
    ],
    [
      'lets pods that were never available go first',
      { old: [{ replicas: 4, available: 1 }] },
      { current: 1, old: [1] },
    ],
    ['scales down', { wanted: 2, current: { replicas: 4, available: 4 } }, { current: 2, old: [] }],
    ['scales to nothing', { wanted: 0, current: { replicas: 4, available: 4 } }, { current: 0, old: [] }],
  ])('%s', (_what, given, sizes) => {
    expect(nextSizes({ ...facts, ...given })).toEqual(sizes);
  });

  test('recreates only when the old pods are gone', () => {
    const recreate = { ...facts, isRecreate: true };
    expect(nextSizes({ ...recreate, old: [{ replicas: 4, available: 4 }] })).toEqual({ current: 0, old: [0] });
    expect(nextSizes({ ...recreate, old: [none] })).toEqual({ current: 4, old: [0] });
  });

  test('a rollout keeps its bounds and ends, whatever its size', () => {
    for (let wanted = 1; wanted <= 8; wanted += 1) {
      const bounds = rolloutBounds(deployment(wanted));
      let current = none;
      let old = { replicas: wanted, available: wanted };
      for (let round = 0; round < 40; round += 1) {
        const sizes = nextSizes({ ...bounds, wanted, current, old: [old] });
        current = { replicas: sizes.current, available: sizes.current };
        old = { replicas: sizes.old[0] ?? 0, available: sizes.old[0] ?? 0 };
        expect(current.replicas + old.replicas).toBeLessThanOrEqual(wanted + bounds.surge);
        expect(current.available + old.available).toBeGreaterThanOrEqual(wanted - bounds.unavailable);
      }
      expect([current.replicas, old.replicas]).toEqual([wanted, 0]);
    }
  });
});

function deployment(
  replicas: number,
  rollingUpdate?: { maxSurge: number | string; maxUnavailable: number | string },
): Deployment {
  const strategy = { type: 'RollingUpdate', ...(rollingUpdate !== undefined && { rollingUpdate }) };
  return { metadata: {}, spec: { replicas, selector: {}, template: { spec: {} }, strategy } };
}

test('rolloutBounds rounds the surge up and the missing pods down, and never stands still', () => {
  expect(rolloutBounds(deployment(5))).toEqual({ surge: 2, unavailable: 1, isRecreate: false });
  expect(rolloutBounds(deployment(3, { maxSurge: 0, maxUnavailable: '10%' }))).toMatchObject({
    surge: 0,
    unavailable: 1,
  });
});

test('scaled reads numbers and percentages', () => {
  expect([scaled(3, 10, Math.ceil), scaled('25%', 10, Math.ceil), scaled('25%', 10, Math.floor)]).toEqual([3, 3, 2]);
});
