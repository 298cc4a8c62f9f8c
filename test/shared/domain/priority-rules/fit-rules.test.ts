import { describe, expect, test } from 'vitest';
import { fitRules, type RuleDraft, type RuleLimits } from '#shared/domain/priority-rules/fit-rules.ts';
import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { judgingRule } from '#shared/domain/priority-rules/priority-rules.ts';
import { buildPolicy } from '#test/build/admission.ts';

const ROOMY: RuleLimits = { bytes: 10_000, cost: 10_000, groups: 10, labels: 2 };
const IN_TEAM_A: Requirement = { key: 'team', operator: 'In', values: ['a'] };
const IN_TEAM_B: Requirement = { key: 'team', operator: 'In', values: ['b'] };

function draft(
  name: string,
  bytes: number,
  requirements: readonly Requirement[] = [],
  groups: string[] = [],
): RuleDraft {
  const subjects = groups.map((group) => ({ kind: 'Group', name: group }) as const);
  return {
    rule: judgingRule(buildPolicy(name, { maxPriority: 1, subjects }), { ranked: [], existing: new Map() }, false),
    requirements,
    bytes,
  };
}

function namesOf({ placed, leftOut }: ReturnType<typeof fitRules>): readonly unknown[] {
  return [placed.map(({ rule }) => rule.policy), Object.fromEntries(leftOut)];
}

describe('fitRules', () => {
  test('a large rule never displaces a small one, whatever they are called', () => {
    const drafts = [draft('a', 8_000), draft('b', 4_000), draft('c', 5_000)];
    expect(namesOf(fitRules(drafts, 0, ROOMY))).toEqual([['b', 'c'], { a: 'bytes' }]);
    expect(namesOf(fitRules(drafts, 6_000, ROOMY))).toEqual([['b'], { a: 'bytes', c: 'bytes' }]);
  });

  test('only rules that can hold in one namespace share its cost', () => {
    const limits = { ...ROOMY, cost: 1_250 };
    const inTurn = [IN_TEAM_A, IN_TEAM_B, IN_TEAM_A, IN_TEAM_B, IN_TEAM_A, IN_TEAM_A];
    const drafts = inTurn.map((requirement, index) => draft(`p${index}`, 100, [requirement]));
    expect(namesOf(fitRules(drafts, 0, limits))).toEqual([['p0', 'p1', 'p2', 'p3', 'p4'], { p5: 'cost' }]);
    const everywhere = inTurn.map((_, index) => draft(`p${index}`, 100));
    expect(namesOf(fitRules(everywhere, 0, limits))).toEqual([
      ['p0', 'p1', 'p2'],
      { p3: 'cost', p4: 'cost', p5: 'cost' },
    ]);
  });

  test('a group costs more the more groups are named', () => {
    const drafts = ['a', 'b', 'c'].map((group) => draft(group, 100, [], [group]));
    expect(namesOf(fitRules(drafts, 0, { ...ROOMY, cost: 900 }))).toEqual([['a', 'b'], { c: 'cost' }]);
    expect(namesOf(fitRules(drafts, 0, { ...ROOMY, groups: 2 }))).toEqual([['a', 'b'], { c: 'groups' }]);
  });

  test('rules beyond the number of labels are found everywhere, and test their label there', () => {
    const drafts = ['x', 'y', 'z'].map((key) => draft(key, 100, [{ key, operator: 'In', values: ['1'] }]));
    const { placed } = fitRules(drafts, 0, ROOMY);
    expect(placed.map(({ place }) => place)).toEqual([
      { label: { key: 'x', values: ['1'] }, tests: [] },
      { label: { key: 'y', values: ['1'] }, tests: [] },
      { label: undefined, tests: [{ key: 'z', values: ['1'], is: true }] },
    ]);
  });
});
