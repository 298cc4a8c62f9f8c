import { describe, expect, test } from 'vitest';
import { createThreshold, thresholdOfId } from '#shared/domain/pressure/threshold.ts';
import { DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';

describe('thresholdOfId', () => {
  test.each(DEFAULT_POLICY.thresholds.map((threshold) => [threshold.id, threshold] as const))('%s', (id, threshold) => {
    expect(thresholdOfId(id)).toEqual(threshold);
  });

  test('a share of the capacity, a grace period and a minimum to reclaim', () => {
    const share = { kind: 'share', share: 0.1 } as const;
    const given = { signal: 'memory.available', value: share, gracePeriodSeconds: 90, minimumReclaim: share } as const;
    const threshold = createThreshold(given);
    expect(thresholdOfId(threshold.id)).toEqual(threshold);
  });

  test.each(['', 'memory.available', 'memory.available<', 'memory.available<much', 'unknown.available<1Gi'])(
    '%j is no id',
    (id) => {
      expect(thresholdOfId(id)).toBeUndefined();
    },
  );
});
