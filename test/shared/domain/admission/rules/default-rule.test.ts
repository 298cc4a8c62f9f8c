import { describe, expect, test } from 'vitest';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { buildClass, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';

const CLASSES = [
  buildClass('standard', 100, { isGlobalDefault: true }),
  buildClass('low', 10),
  buildClass('high', 1_000),
  buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
];
const LOW = buildPolicy('gives-low', { defaultClassName: 'low' });
const STANDARD = { priorityClassName: 'standard', priority: 100 };
const NOT_GIVEN = MESSAGES.defaultNotGiven.text({ policy: 'gives-low', priorityClassName: 'low' });

interface Case {
  readonly policies?: readonly PriorityPolicy[];
  readonly spec?: object;
  readonly named?: 'person' | 'default' | 'unknown';
  readonly classes?: typeof CLASSES;
}

function refusalOf({ policies = [LOW], spec = {}, named = 'unknown', classes = CLASSES }: Case): string | undefined {
  const request = buildRequest(spec, { classNamedBy: named });
  const decision = decideValidation(request, buildWorld({ classes, policies }));
  return decision.kind === 'refused' ? decision.because.text : undefined;
}

describe('a pod whose default class was skipped', () => {
  test.each<[string, Case, string | undefined]>([
    ['is refused without a class', {}, NOT_GIVEN],
    [
      'is refused with the global default that the API server filled in',
      { spec: STANDARD, named: 'default' },
      NOT_GIVEN,
    ],
    ['is no pod that names the global default itself', { spec: STANDARD, named: 'person' }, undefined],
    ['is no pod whose class was named by an unknown client', { spec: STANDARD, named: 'unknown' }, undefined],
    [
      'is no pod that got the default',
      { spec: { priorityClassName: 'low', priority: 10 }, named: 'default' },
      undefined,
    ],
    ['is no pod where no policy gives a class', { policies: [buildPolicy('none', { maxPriority: 500 })] }, undefined],
    ['is no pod where the class does not exist', { classes: CLASSES.filter(({ name }) => name !== 'low') }, undefined],
    ['is only warned of by a policy that warns', { policies: [{ ...LOW, onViolation: 'Warn' }] }, undefined],
    ['is no pod for another person', { policies: [{ ...LOW, subjects: [{ kind: 'User', name: 'bob' }] }] }, undefined],
    [
      'is no pod with the global default, where that is the lowest default of several policies',
      {
        policies: [buildPolicy('a', { defaultClassName: 'high' }), buildPolicy('b', { defaultClassName: 'standard' })],
        spec: STANDARD,
        named: 'default',
      },
      undefined,
    ],
  ])('%s', (_, situation, refusal) => {
    expect(refusalOf(situation)).toBe(refusal);
  });
});
