import { describe, expect, test } from 'vitest';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { required } from '#test/conformance/required.ts';

describe('decodePriorityClass', () => {
  test('a policy left out is the default, an empty one is not', () => {
    const policies = [{}, { preemptionPolicy: null }, { preemptionPolicy: '' }].map((raw) => decodePriorityClass(raw));
    expect(policies.map((each) => required(each).preemptionPolicy)).toEqual([
      'PreemptLowerPriority',
      'PreemptLowerPriority',
      '',
    ]);
  });
});
