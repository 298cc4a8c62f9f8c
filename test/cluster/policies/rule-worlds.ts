import fc from 'fast-check';
import { compileRules } from '#shared/domain/priority-rules/compile-rules.ts';
import type { RuleSet } from '#shared/domain/priority-rules/priority-rules.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { encodePriorityRules, storedBytes } from '#shared/api/priority-rules.ts';
import { policyArbitrary, RULE_CLASSES } from '#test/build/rule-cases.ts';
import { valueOf } from '#test/build/value-of.ts';
import type { RuleNames } from './mutated-requests.ts';

/** Compiled rules as the API server gets them, and what requests must name to meet them. */
export interface RuleWorld {
  readonly name: string;
  readonly params: object;
  /** What the same policies give when each of them has a default class, too. */
  readonly giving: object;
  readonly names: RuleNames;
  /** How many policies found room. */
  readonly policies: number;
  /** Whether there were more, so that judging takes as long as it ever may. */
  readonly isFull: boolean;
}

const CLASS_NAMES = [...RULE_CLASSES.map(({ name }) => name), 'rule-missing'];
const CLASSES = new Map(RULE_CLASSES.map((each) => [each.name, each]));
const GROUPS = ['rule-dev', 'rule-ops'];
const USERS = ['rule-alice', 'rule-bob', 'system:serviceaccount:team-1:builder'];

/** A few random policies, and three worlds that fill what one object may hold: by rules, by groups and by labels. */
export function ruleWorlds(seed: number): readonly RuleWorld[] {
  return [random(seed), manyRules(), manyGroups(), manyLabels()];
}

function random(seed: number): RuleWorld {
  const arbitrary = fc.array(
    policyArbitrary((index) => `team-${index}`),
    { minLength: 8, maxLength: 8 },
  );
  const [specs = []] = fc.sample(arbitrary, { numRuns: 1, seed });
  return world('random policies', specs, {
    groups: GROUPS,
    labels: { team: ['a', 'b', 'c'], tier: ['gold', 'silver'] },
  });
}

/** All of them hold everywhere, with long lists and substitutes. */
function manyRules(): RuleWorld {
  const substitutePriorityClassNames = { 'rule-high': 'rule-high-never', 'rule-standard': 'rule-low-never' };
  const specs = many(6_000, (index) => ({
    ...(index % 3 === 0 ? { allowedPriorityClassNames: CLASS_NAMES.slice(0, 4) } : { maxPriority: index }),
    ...(index % 2 === 0 && { preemption: 'Never', substitutePriorityClassNames }),
    ...(index % 5 === 0 && { subjects: [{ kind: 'User', name: USERS[0] }] }),
    onViolation: 'Deny',
  }));
  return world('as many rules as have room', specs, { groups: GROUPS, labels: { team: ['a'] } });
}

function manyGroups(): RuleWorld {
  const groups = many(4_000, (index) => `org-${index}`);
  const specs = many(400, (index) => ({
    maxPriority: index,
    subjects: groups.slice(index * 10, index * 10 + 10).map((name) => ({ kind: 'Group', name })),
    onViolation: 'Deny',
  }));
  return world('as many groups as have room', specs, { groups, labels: { team: ['a'] } });
}

function manyLabels(): RuleWorld {
  const values = many(5, (index) => `v${index}`);
  const labels = Object.fromEntries(many(64, (index) => [`label-${index}`, values]));
  const specs = many(1_500, (index) => ({
    namespaceSelector: {
      matchExpressions: [
        { key: `label-${index % 64}`, operator: 'In', values },
        { key: `label-${(index + 1) % 64}`, operator: 'NotIn', values: values.slice(1) },
        { key: `label-${(index + 2) % 64}`, operator: 'Exists' },
      ],
    },
    maxPriority: index,
    onViolation: 'Deny',
  }));
  return world('rules by as many labels as have room', specs, { groups: GROUPS, labels });
}

function many<T>(length: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length }, (_, index) => make(index));
}

function world(name: string, specs: readonly object[], more: Pick<RuleNames, 'groups' | 'labels'>): RuleWorld {
  const policies: readonly PriorityPolicy[] = specs.map((spec, index) =>
    valueOf(decodePriorityPolicy({ metadata: { name: `policy-${index}` }, spec })),
  );
  const { refusing, leftOut } = compileRules({
    policies,
    quotas: [],
    classes: CLASSES,
    mode: 'Enforce',
    bytesOf: storedBytes,
  });
  if (refusing === undefined) throw new Error('no rules that refuse');
  return {
    name,
    params: rulesObject(refusing),
    giving: givingObject(specs),
    names: { ...more, classes: CLASS_NAMES, users: USERS },
    policies: refusing.rules.length,
    isFull: leftOut.size > 0,
  };
}

function givingObject(specs: readonly object[]): object {
  const policies = specs.map((spec, index) => {
    const defaultPriorityClassName = CLASS_NAMES[index % CLASS_NAMES.length] ?? '';
    const given = { defaultPriorityClassName, schedulerName: 'other', runOn: index % 2 === 0 ? 'Spare' : 'Either' };
    return valueOf(decodePriorityPolicy({ metadata: { name: `policy-${index}` }, spec: { ...given, ...spec } }));
  });
  const { giving } = compileRules({ policies, quotas: [], classes: CLASSES, mode: 'Enforce', bytesOf: storedBytes });
  if (giving === undefined) throw new Error('no rules that give');
  return rulesObject(giving);
}

function rulesObject(set: RuleSet): object {
  const spec = encodePriorityRules(set);
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'PriorityRules', metadata: { name: 'plimsoll' }, spec };
}
