import { describe, expect, test } from 'vitest';
import { behindMs, isJustBehind, nextRuleState, unknownRules, type RuleEvent } from '#webhook/rules/rule-state.ts';

const DIFFERENT: RuleEvent = { kind: 'compared', isCurrent: false, leftOut: new Map() };
const SAME: RuleEvent = { kind: 'compared', isCurrent: true, leftOut: new Map([['p', 'bytes']]) };

function after(...events: readonly (readonly [number, RuleEvent])[]) {
  return events.reduce((state, [now, event]) => nextRuleState(state, event, now), unknownRules(false));
}

describe('nextRuleState', () => {
  test('rules are behind since the first comparison that differed or failed', () => {
    const state = after([1_000, DIFFERENT], [2_000, { kind: 'comparisonFailed' }], [3_000, DIFFERENT]);
    expect([state.isCurrent, behindMs(state, 7_000)]).toEqual([false, 6_000]);
  });

  test('equal rules are not behind, and an earlier failure is forgotten', () => {
    const state = after([1_000, { kind: 'writeFailed', problem: 'no answer' }], [2_000, SAME]);
    expect(state).toMatchObject({ isCurrent: true, problem: undefined, leftOut: new Map([['p', 'bytes']]) });
    expect(behindMs(state, 9_000)).toBe(0);
  });

  test('a failed write says why until the rules are equal', () => {
    const state = after([1_000, { kind: 'writeFailed', problem: 'no answer' }], [2_000, DIFFERENT]);
    expect(state).toMatchObject({ isCurrent: false, problem: 'no answer', behindSince: 1_000 });
  });

  test('missing admission policies are known after a write', () => {
    expect(after([1, SAME], [2, { kind: 'written', missing: ['x'] }]).missing).toEqual(['x']);
  });

  test('for five seconds a difference may be a change that is being written', () => {
    const state = after([1_000, DIFFERENT]);
    expect([isJustBehind(state, 5_999), isJustBehind(state, 6_000), isJustBehind(unknownRules(true), 0)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
