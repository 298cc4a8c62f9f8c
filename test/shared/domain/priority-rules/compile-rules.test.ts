import { describe, expect, test } from 'vitest';
import { compileRules, type RuleSources } from '#shared/domain/priority-rules/compile-rules.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { buildClass, buildPolicy } from '#test/build/admission.ts';
import { selectorOf } from '#test/build/cluster.ts';

const CLASSES = [buildClass('high', 1_000), buildClass('low', 10), buildClass('also-low', 10)];
const TEAM_A = { namespaces: prepareSelector(selectorOf({ team: 'a' })) };
const FOR_ALICE = { subjects: [{ kind: 'User', name: 'alice' }] as const };

function compile(policies: readonly PriorityPolicy[], more: Partial<RuleSources> = {}) {
  const classes = new Map(CLASSES.map((each) => [each.name, each]));
  return compileRules({ policies, quotas: [], classes, mode: 'Enforce', bytesOf: () => 100, ...more });
}

function policiesIn(set: ReturnType<typeof compile>['refusing']): readonly string[] | undefined {
  return set?.rules.map(({ policy }) => policy);
}

describe('compileRules', () => {
  test('without any policy there is a set that refuses nothing but a forged QoS class and spare room that nothing grants', () => {
    expect(compile([])).toEqual({
      refusing: {
        rules: [],
        byLabel: new Map(),
        everywhere: [],
        classes: [],
        checksQosClass: true,
        checksSpareRoom: true,
        isDryRun: false,
      },
      warning: undefined,
      giving: undefined,
      leftOut: new Map(),
    });
  });

  test('an API server that computes the QoS class itself has none to check', () => {
    for (const mode of ['Enforce', 'DryRun'] as const) {
      const { refusing, warning } = compile([], { mode, arithmetic: '1.37' });
      expect((refusing ?? warning)?.checksQosClass).toBe(false);
      expect((compile([], { mode }).refusing ?? compile([], { mode }).warning)?.checksQosClass).toBe(true);
    }
  });

  test('rules are in order of their names and found by label or everywhere', () => {
    const policies = [
      buildPolicy('c', { maxPriority: 3 }),
      buildPolicy('b', { ...TEAM_A, maxPriority: 2 }),
      buildPolicy('a', { ...TEAM_A, maxPriority: 1 }),
    ];
    const { refusing } = compile(policies);
    expect(refusing?.rules.map(({ policy, order }) => [policy, order])).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 2],
    ]);
    expect([refusing?.byLabel, refusing?.everywhere]).toEqual([new Map([['team', new Map([['a', [0, 1]]])]]), [2]]);
    expect(compile(policies.toReversed())).toEqual(compile(policies));
  });

  test('what warns is a set of its own, and is there only if something warns', () => {
    const policies = [
      buildPolicy('denies', { maxPriority: 1 }),
      buildPolicy('warns', { maxPriority: 1, onViolation: 'Warn' }),
      buildPolicy('gives', { defaultClassName: 'low', onViolation: 'Warn' }),
    ];
    const { refusing, warning } = compile(policies);
    expect([policiesIn(refusing), policiesIn(warning), warning?.checksQosClass]).toEqual([
      ['denies'],
      ['gives', 'warns'],
      false,
    ]);
    expect(compile(policies.slice(0, 1)).warning).toBeUndefined();
  });

  test('in dry run everything warns, and what would refuse says so', () => {
    const policies = [
      buildPolicy('denies', { maxPriority: 1 }),
      buildPolicy('warns', { maxPriority: 1, onViolation: 'Warn' }),
    ];
    const { refusing, warning } = compile(policies, { mode: 'DryRun' });
    expect([refusing, warning?.checksQosClass, warning?.isDryRun]).toEqual([undefined, true, true]);
    expect(warning?.rules.map(({ policy, isDryRun }) => [policy, isDryRun])).toEqual([
      ['denies', true],
      ['warns', false],
    ]);
  });

  test('classes, and policies that only give them, count where rules are for persons', () => {
    const gives = buildPolicy('gives', { defaultClassName: 'low', onViolation: 'Warn' });
    const lasting = compile([gives, buildPolicy('p', { maxPriority: 1 })]).refusing;
    expect([policiesIn(lasting), lasting?.classes]).toEqual([['p'], []]);
    const { refusing } = compile([gives, buildPolicy('p', { ...FOR_ALICE, maxPriority: 1 })]);
    expect(policiesIn(refusing)).toEqual(['gives', 'p']);
    expect(refusing?.classes.map(({ name }) => name)).toEqual(['also-low', 'low', 'high']);
    expect(refusing?.rules[0]).toMatchObject({
      gives: [{ className: 'low', rank: 1 }],
      maxPriority: undefined,
      isPersonal: false,
    });
  });

  test('a policy that judges elsewhere forbids nothing here', () => {
    const substitutes = new Map([['high', 'low']]);
    const policies = [
      buildPolicy('never', { maxPriority: 1, preemption: 'Never', substitutes, onViolation: 'Warn' }),
      buildPolicy('p', { ...FOR_ALICE, maxPriority: 1 }),
    ];
    const [rule] = compile(policies).refusing?.rules ?? [];
    expect(rule).toMatchObject({ policy: 'never', maxPriority: undefined, preemption: 'Allow', substitutes });
  });

  test('what policies give is a set of its own in every mode, with the classes that it names', () => {
    const substitutes = new Map([['high', 'missing']]);
    const policies = [
      buildPolicy('forbids', { maxPriority: 1 }),
      buildPolicy('gives', { defaultClassName: 'low', onViolation: 'Warn' }),
      buildPolicy('replaces', { ...FOR_ALICE, preemption: 'Never', substitutes }),
      buildPolicy('schedules', { schedulerName: 'other' }),
    ];
    for (const mode of ['Enforce', 'DryRun'] as const) {
      const { giving } = compile(policies, { mode });
      expect(policiesIn(giving)).toEqual(['gives', 'replaces', 'schedules']);
      expect(giving).toMatchObject({
        classes: [{ name: 'low' }, { name: 'high' }],
        receivers: { classNames: new Set(['high']), schedulers: true },
        checksQosClass: false,
      });
      expect(giving?.rules.map(({ gives, schedulerName }) => [gives[0]?.rank, schedulerName])).toEqual([
        [0, undefined],
        [undefined, undefined],
        [undefined, 'other'],
      ]);
    }
    expect(compile(policies.slice(0, 1)).giving).toBeUndefined();
  });

  test('a selector that the API server would refuse selects nothing, so there is no rule', () => {
    const namespaces = prepareSelector({
      matchLabels: new Map(),
      matchExpressions: [{ key: 'team', operator: 'In', values: [] }],
    });
    const { refusing, leftOut } = compile([buildPolicy('p', { namespaces, maxPriority: 1 })]);
    expect([policiesIn(refusing), leftOut.size]).toEqual([[], 0]);
  });

  test('what does not fit is named', () => {
    const bytesOf = ({ policy }: { readonly policy: string }): number => (policy === 'large' ? 2_000_000 : 100);
    const policies = [buildPolicy('large', { maxPriority: 1 }), buildPolicy('small', { maxPriority: 1 })];
    const { refusing, leftOut } = compile(policies, { bytesOf });
    expect([policiesIn(refusing), leftOut]).toEqual([['small'], new Map([['large', 'bytes']])]);
  });
});
