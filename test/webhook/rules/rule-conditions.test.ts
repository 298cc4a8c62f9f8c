import { describe, expect, test } from 'vitest';
import { buildPolicy } from '#test/build/admission.ts';
import { enforcementCondition, rulesCondition, unknownRules, type RuleState } from '#webhook/rules/rule-state.ts';
import { CONDITIONS, RULE_LIMITS } from '#webhook/messages.ts';

const CURRENT: RuleState = { ...unknownRules(false), isCurrent: true };
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
        message: CONDITIONS.enforced('refuses'),
      },
    ],
    [
      'warns',
      { ...CEILING, onViolation: 'Warn' },
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message: CONDITIONS.enforced('warns about'),
      },
    ],
    [
      'warns in dry run',
      CEILING,
      { isDryRun: true },
      {
        status: 'True',
        reason: 'Compiled',
        message: CONDITIONS.enforced('warns about'),
      },
    ],
    [
      'refuses by quota',
      { ...CEILING, requireQuotaFor: ['high'] },
      {},
      {
        status: 'True',
        reason: 'Compiled',
        message: CONDITIONS.enforced('refuses'),
      },
    ],
    [
      'has nothing to enforce',
      { schedulerName: 'batch' },
      {},
      {
        status: 'False',
        reason: 'NothingToEnforce',
        message: CONDITIONS.nothingToEnforce(),
      },
    ],
    [
      'finds no room',
      CEILING,
      { leftOut: new Map([['p', 'bytes']]) },
      {
        status: 'False',
        reason: 'TooLarge',
        message: CONDITIONS.onlyByWebhook(RULE_LIMITS.bytes[1]),
      },
    ],
    [
      'is not compiled yet',
      CEILING,
      { isCurrent: false, problem: 'cannot create PriorityRules "plimsoll": not found' },
      {
        status: 'False',
        reason: 'NotCompiled',
        message: CONDITIONS.earlierRules('cannot create PriorityRules "plimsoll": not found'),
      },
    ],
    [
      'is not installed',
      CEILING,
      { missing: ['ValidatingAdmissionPolicy priority.plimsoll.dev'] },
      {
        status: 'False',
        reason: 'NotInstalled',
        message: CONDITIONS.notInstalled(['ValidatingAdmissionPolicy priority.plimsoll.dev']),
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
  expect(rulesCondition(new Map(), 3)).toMatchObject({ status: 'True', message: CONDITIONS.compiled(3) });
  const leftOut = new Map([
    ['b', 'bytes'],
    ['a', 'cost'],
  ] as const);
  expect(rulesCondition(leftOut, 3)).toMatchObject({ status: 'False', message: CONDITIONS.onlyByWebhook('a, b') });
});
