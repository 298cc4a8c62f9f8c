import { describe, expect, test } from 'vitest';
import { buildPolicy } from '#test/build/admission.ts';
import { enforcementCondition, rulesCondition, type RuleState } from '#webhook/rules/rule-conditions.ts';

const CURRENT: RuleState = { isCurrent: true, problem: undefined, missing: [], leftOut: new Map(), isDryRun: false };
const CEILING = { maxPriority: 1 };

describe('enforcementCondition', () => {
  test.each<[string, object, Partial<RuleState>, object]>([
    [
      'refuses',
      CEILING,
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message: 'The API server refuses what breaks it, also while no webhook answers',
      },
    ],
    [
      'warns',
      { ...CEILING, onViolation: 'Warn' },
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message: 'The API server warns about what breaks it, also while no webhook answers',
      },
    ],
    [
      'warns in dry run',
      CEILING,
      { isDryRun: true },
      {
        status: 'True',
        reason: 'Compiled',
        message: 'The API server warns about what breaks it, also while no webhook answers',
      },
    ],
    [
      'refuses, but not by quota',
      { ...CEILING, requireQuotaFor: ['high'] },
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message:
          'The API server refuses what breaks it, also while no webhook answers; requireQuotaFor is enforced by the webhook alone',
      },
    ],
    [
      'has nothing to enforce',
      { defaultClassName: 'low', requireQuotaFor: ['high'] },
      {},
      {
        status: 'False',
        reason: 'NothingToEnforce',
        message: 'Nothing in it is enforced by the API server; its settings take effect in the webhook',
      },
    ],
    [
      'finds no room',
      CEILING,
      { leftOut: new Map([['p', 'bytes']]) },
      {
        status: 'False',
        reason: 'TooLarge',
        message: 'Left to the webhook alone: the rules of all policies together are too large for one object',
      },
    ],
    [
      'is not compiled yet',
      CEILING,
      { isCurrent: false, problem: 'cannot create PriorityRules "plimsoll": not found' },
      {
        status: 'False',
        reason: 'NotCompiled',
        message:
          'The API server still enforces the rules that were compiled before: cannot create PriorityRules "plimsoll": not found',
      },
    ],
    [
      'is not installed',
      CEILING,
      { missing: ['ValidatingAdmissionPolicy priority.plimsoll.dev'] },
      {
        status: 'False',
        reason: 'NotInstalled',
        message: 'Not installed: ValidatingAdmissionPolicy priority.plimsoll.dev',
      },
    ],
  ])('says that a policy %s', (_, more, state, condition) => {
    const policy = buildPolicy('p', more);
    expect(enforcementCondition(policy, { ...CURRENT, ...state })).toEqual({
      type: 'EnforcedByAPIServer',
      ...condition,
    });
  });

  test('says nothing before anything is known', () => {
    expect(enforcementCondition(buildPolicy('p', CEILING), { ...CURRENT, isCurrent: undefined })).toBeUndefined();
  });
});

test('the rules say how many policies they hold, and which they do not', () => {
  expect(rulesCondition(new Map(), 3)).toMatchObject({ status: 'True', message: 'Compiled from 3 PriorityPolicies' });
  const leftOut = new Map([
    ['b', 'bytes'],
    ['a', 'cost'],
  ] as const);
  expect(rulesCondition(leftOut, 3)).toMatchObject({ status: 'False', message: 'Left to the webhook alone: a, b' });
});
