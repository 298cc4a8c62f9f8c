import { describe, expect, test } from 'vitest';
import { isMarkedLast, moveRules } from '#shared/kube/annotations/annotations.ts';
import { hasForeignWish } from '#shared/kube/annotations/wishes.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';

const CASES: readonly (readonly [string, string, boolean])[] = [
  ['descheduler.alpha.kubernetes.io/prefer-no-eviction', '', true],
  ['descheduler.alpha.kubernetes.io/prefer-no-eviction', 'true', true],
  ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'false', true],
  ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'true', false],
  ['karpenter.sh/do-not-disrupt', 'true', true],
  ['karpenter.sh/do-not-disrupt', '30m', true],
  ['karpenter.sh/do-not-disrupt', 'false', false],
  ['karpenter.sh/do-not-evict', 'true', true],
  ['karpenter.sh/do-not-evict', 'no', false],
  ['example.com/other', 'true', false],
];

describe('a wish for another program', () => {
  test.each(CASES)('%s: "%s" counts: %s', (name, value, expected) => {
    const decoded = decodePod({ metadata: { name: 'a', namespace: 'shop', annotations: { [name]: value } } });
    if (!decoded.ok) throw new Error(decoded.message);
    expect(hasForeignWish(decoded.value.annotations)).toBe(expected);
    expect(isMarkedLast(decoded.value, 1_000_000)).toBe(expected);
    expect(moveRules(new Map(), true).wantsToStay(decoded.value)).toBe(expected);
  });
});
