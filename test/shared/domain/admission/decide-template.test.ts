import { describe, expect, test } from 'vitest';
import { decideTemplate } from '#shared/domain/admission/decide-validation.ts';
import { buildClass, buildPolicy, buildRequest, buildWorld } from '#test/build/admission.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';

const CLASSES = [
  buildClass('high', 1_000),
  buildClass('high-never', 1_000, { preemptionPolicy: 'Never' }),
  buildClass('low', 10),
];
const TEMPLATE = buildRequest({ priorityClassName: 'high' }, { classNamedBy: 'person' });
const FOR_ALICE = { subjects: [{ kind: 'User', name: 'alice' }] as const };

describe('decideTemplate', () => {
  test('refuses a class that the user may not use, so that a workload cannot bypass the policy', () => {
    const policies = [buildPolicy('p', { ...FOR_ALICE, maxPriority: 10 })];
    expect(decideTemplate(TEMPLATE, buildWorld({ classes: CLASSES, policies }))).toMatchObject({
      kind: 'refused',
      code: 403,
      because: { code: 'PriorityAboveCeiling' },
    });
  });

  test("refuses a class that preempts even with a substitute, which would not be applied to a controller's pods", () => {
    const substitutes = new Map([['high', 'high-never']]);
    const policies = [buildPolicy('p', { ...FOR_ALICE, preemption: 'Never', substitutes })];
    expect(decideTemplate(TEMPLATE, buildWorld({ classes: CLASSES, policies }))).toMatchObject({
      kind: 'refused',
      because: { code: 'PreemptionNotAllowed' },
    });
  });

  test('accepts a class whose substitute every pod of the namespace gets', () => {
    const substitutes = new Map([['high', 'high-never']]);
    const policies = [buildPolicy('p', { preemption: 'Never', substitutes })];
    expect(decideTemplate(TEMPLATE, buildWorld({ classes: CLASSES, policies }))).toMatchObject({
      kind: 'allowed',
      warnings: [],
    });
  });

  test('only warns of what is decided on the pod', () => {
    const policies = [buildPolicy('p', { maxPriority: 10 })];
    expect(decideTemplate(TEMPLATE, buildWorld({ classes: CLASSES, policies }))).toMatchObject({
      kind: 'allowed',
      warnings: [
        PHRASES.podsWouldBeRefused(
          MESSAGES.priorityAboveCeiling.text({
            policy: 'p',
            maxPriority: 10,
            priorityClassName: 'high',
            priority: 1_000,
          }),
        ),
      ],
    });
  });

  test('warns of a class that does not exist (yet)', () => {
    const template = buildRequest({ priorityClassName: 'gold' });
    expect(decideTemplate(template, buildWorld({ classes: CLASSES }))).toMatchObject({
      kind: 'allowed',
      warnings: [MESSAGES.templateClassUnknown.text({ priorityClassName: 'gold' })],
    });
  });

  test.each<[string, object, string | undefined]>([
    [
      'a ceiling',
      { maxPriority: 10 },
      MESSAGES.missingClassUnderCeiling.text({ policy: 'p', maxPriority: 10, priorityClassName: 'gold' }),
    ],
    [
      'a list without it',
      { allowedClassNames: ['low'] },
      MESSAGES.classNotAllowed.text({ policy: 'p', priorityClassName: 'gold', allowed: ['low'] }),
    ],
    [
      'preemption Never',
      { preemption: 'Never' },
      MESSAGES.missingClassMayPreempt.text({ policy: 'p', priorityClassName: 'gold' }),
    ],
    ['a list with it', { allowedClassNames: ['gold'] }, undefined],
    ['nothing but a default', { defaultClassName: 'low' }, undefined],
  ])('a class that does not exist, for a person with %s', (_, more, refusal) => {
    const template = buildRequest({ priorityClassName: 'gold' });
    const policies = [buildPolicy('p', { ...FOR_ALICE, ...more }), buildPolicy('all', { maxPriority: 1 })];
    const decision = decideTemplate(template, buildWorld({ classes: CLASSES, policies }));
    expect(decision.kind === 'refused' ? decision.because.text : undefined).toBe(refusal);
  });

  test('checks a template without a class against the default that its pods will get', () => {
    const policies = [
      buildPolicy('d', { defaultClassName: 'high' }),
      buildPolicy('p', { ...FOR_ALICE, maxPriority: 10 }),
    ];
    expect(decideTemplate(buildRequest(), buildWorld({ classes: CLASSES, policies }))).toMatchObject({
      kind: 'refused',
    });
  });
});
