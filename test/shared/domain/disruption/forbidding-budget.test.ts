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
  [{ minAvailable: 3, expectedPods: 3, desiredHealthy: 3 }, 'minAvailable'],
  [{ minAvailable: 3, expectedPods: 4, desiredHealthy: 3 }, undefined],
  [{ minAvailable: 3 }, undefined],
  [{}, undefined],
])('of a budget %o the field that forbids every eviction is %s (S3-17)', (budget, field) => {
  expect(forbidsEverything({ ...NONE, ...budget })).toBe(field);
});
