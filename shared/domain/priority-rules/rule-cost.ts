import type { UnplacedRule } from './rule-of-policy.ts';
import type { RulePlace } from './place-rule.ts';

/*
 * Upper bounds in the units by which the API server measures CEL, of which an expression may spend 1,000,000
 * (`pkg/apis/cel/config.go` PerCallLimit). test/cluster/policies measures what rules at these bounds really cost.
 */
/** More than the 80 it costs: the time of a loop grows with the square of its length, and 4,000 rules took seconds. */
const PER_RULE = 400;
const PER_TEST = 20;
/** Looking one of the user's groups up among those of the rule. */
const PER_GROUP = 12;

/** What it may cost to see whether a pod breaks a rule, when its user is in every group that any rule names. */
export function ruleCost(rule: UnplacedRule, { tests }: RulePlace, groupsNamed: number): number {
  const { subjects, allowed = [], substitutes, requireQuotaFor, counted } = rule;
  const values = tests.reduce((sum, test) => sum + PER_TEST + (test.values?.length ?? 0), 0);
  const names = (subjects?.users.length ?? 0) + 2 * (subjects?.serviceAccounts.length ?? 0) + allowed.length;
  const groups = (subjects?.groups.length ?? 0) > 0 ? PER_GROUP * groupsNamed : 0;
  const classes = requireQuotaFor.length + substitutes.size + namesCounted(counted);
  return PER_RULE + values + names + groups + classes;
}

function namesCounted(counted: UnplacedRule['counted']): number {
  return counted?.kind === 'classes' ? counted.names.size : 0;
}

/** The most that judging a pod of any one namespace may cost: all rules found everywhere, and for each label those of one value. */
export interface HighestCost {
  /** What it would be with one more rule. */
  with(place: RulePlace, cost: number): number;
  add(place: RulePlace, cost: number): void;
  keys(): number;
  hasKey(key: string): boolean;
}

/** No rule yet. */
export function highestCost(): HighestCost {
  const byLabel = new Map<string, Map<string, number>>();
  const highestByKey = new Map<string, number>();
  let total = 0;

  /** How much more the costliest value of the rule's label would cost than the costliest now. */
  function growth({ label }: RulePlace, cost: number): number {
    if (label === undefined) return cost;
    const values = byLabel.get(label.key);
    const highest = Math.max(...label.values.map((value) => (values?.get(value) ?? 0) + cost));
    return Math.max(0, highest - (highestByKey.get(label.key) ?? 0));
  }

  function add(place: RulePlace, cost: number): void {
    const grown = growth(place, cost);
    total += grown;
    if (place.label === undefined) return;
    const { key, values } = place.label;
    const costs = byLabel.get(key) ?? new Map<string, number>();
    for (const value of values) costs.set(value, (costs.get(value) ?? 0) + cost);
    byLabel.set(key, costs);
    highestByKey.set(key, (highestByKey.get(key) ?? 0) + grown);
  }

  return {
    with: (place, cost) => total + growth(place, cost),
    add,
    keys: () => byLabel.size,
    hasKey: (key) => byLabel.has(key),
  };
}
