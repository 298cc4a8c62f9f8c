import { describe, expect, test } from 'vitest';
import { gracePeriodSeconds } from '#shared/decide/eviction/eviction.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';

const HARD = threshold('memory.available', '1Gi');
const SOFT = threshold('memory.available', '1Gi', { grace: 30 });

describe('gracePeriodSeconds', () => {
  test.each([
    ['one second for a hard threshold', HARD, 300, 1],
    ['its own for a soft one', SOFT, 20, 20],
    ['its own up to the most', SOFT, 300, 60],
    ['the most for a pod that names none', SOFT, undefined, 60],
  ])('is %s', (_, of, terminationGracePeriodSeconds, expected) => {
    expect(gracePeriodSeconds(of, pod('p', { spec: { terminationGracePeriodSeconds } }), 60)).toBe(expected);
  });
});
