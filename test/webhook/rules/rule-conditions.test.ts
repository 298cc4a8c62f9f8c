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
        message: 'The API server refuses violations, even while the webhook is down',
      },
    ],
    [
      'warns',
      { ...CEILING, onViolation: 'Warn' },
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message: 'The API server warns about violations, even while the webhook is down',
      },
    ],
    [
      'warns in dry run',
      CEILING,
      { isDryRun: true },
      {
        status: 'True',
        reason: 'Compiled',
        message: 'The API server warns about violations, even while the webhook is down',
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
          'The API server refuses violations, even while the webhook is down; requireQuotaFor is enforced only by the webhook',
      },
    ],
    [
      'has nothing to enforce',
      { defaultClassName: 'low', requireQuotaFor: ['high'] },
      {},
      {
        status: 'False',
        reason: 'NothingToEnforce',
        message: 'The API server enforces nothing in this policy; its settings take effect in the webhook',
      },
    ],
    [
      'finds no room',
      CEILING,
      { leftOut: new Map([['p', 'bytes']]) },
      {
        status: 'False',
        reason: 'TooLarge',
        message: 'Enforced only by the webhook: the rules of all policies together are too large for one object',
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
          'The API server still enforces previously compiled rules: cannot create PriorityRules "plimsoll": not found',
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

test('the status of the rules counts their policies and names those left out', () => {
  expect(rulesCondition(new Map(), 3)).toMatchObject({ status: 'True', message: 'Compiled from 3 PriorityPolicies' });
  const leftOut = new Map([
    ['b', 'bytes'],
    ['a', 'cost'],
  ] as const);
  expect(rulesCondition(leftOut, 3)).toMatchObject({ status: 'False', message: 'Enforced only by the webhook: a, b' });
});
