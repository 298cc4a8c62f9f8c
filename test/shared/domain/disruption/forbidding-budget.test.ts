import { expect, test } from 'vitest';
import { forbidsEverything, type WrittenBudget } from '#shared/domain/disruption/disruption-limit.ts';

const NONE: WrittenBudget = { maxUnavailable: undefined, minAvailable: undefined, expectedPods: 0, desiredHealthy: 0 };

test.each<readonly [Partial<WrittenBudget>, ReturnType<typeof forbidsEverything>]>([
  [{ maxUnavailable: 0 }, 'maxUnavailable'],
  [{ maxUnavailable: '0%' }, 'maxUnavailable'],
  [{ maxUnavailable: 1 }, undefined],
  [{ maxUnavailable: '10%' }, undefined],
  [{ minAvailable: '100%' }, 'minAvailable'],
  [{ minAvailable: '99%' }, undefined],
  [{ minAvailable: '99%', expectedPods: 3 }, 'minAvailable'],
  [{ minAvailable: '99%', expectedPods: 99 }, 'minAvailable'],
  [{ minAvailable: '99%', expectedPods: 100 }, undefined],
  [{ minAvailable: '51%', expectedPods: 2 }, 'minAvailable'],
  [{ minAvailable: '50%', expectedPods: 2 }, undefined],
  [{ minAvailable: '1%', expectedPods: 1 }, 'minAvailable'],
  [{ minAvailable: '0%', expectedPods: 1 }, undefined],
  [{ minAvailable: '0100%' }, 'minAvailable'],
  [{ minAvailable: 2_147_483_647 }, 'minAvailable'],
  [{ minAvailable: 2_147_483_647, expectedPods: 3 }, 'minAvailable'],
  [{ minAvailable: 1, expectedPods: 1 }, 'minAvailable'],
  [{ minAvailable: 3, expectedPods: 3 }, 'minAvailable'],
  [{ minAvailable: 0, expectedPods: 3 }, undefined],
  [{ maxUnavailable: '1%', expectedPods: 3 }, undefined],
  [{ maxUnavailable: '00%' }, 'maxUnavailable'],
  [{ minAvailable: 3, expectedPods: 3, desiredHealthy: 3 }, 'minAvailable'],
  [{ minAvailable: 3, expectedPods: 4, desiredHealthy: 3 }, undefined],
  [{ minAvailable: 3 }, undefined],
  [{}, undefined],
])('of a budget %o the field that forbids every eviction is %s (S3-17)', (budget, field) => {
  expect(forbidsEverything({ ...NONE, ...budget })).toBe(field);
});
