import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { limitsOf, type PolicyLimits } from '#shared/domain/priority/classes-and-policies.ts';
import { type UnplacedRule, type LabelTest, labelTest, type GivenByRule } from './priority-rules.ts';

/** A rule, what it needs of a namespace, and how many bytes it takes in storage. */
export interface RuleDraft {
  readonly rule: UnplacedRule;
  readonly requirements: readonly Requirement[];
  readonly bytes: number;
}

export interface PlacedRule {
  readonly rule: UnplacedRule;
  readonly place: RulePlace;
}

/** What one object may hold, so that it can be stored and every expression over it ends within its budget. */
export interface RuleLimits {
  /** etcd refuses objects above 1.5 MiB. */
  readonly bytes: number;
  /** In cost units of CEL, see `ruleCost` below. */
  readonly cost: number;
  /** Different names of groups. */
  readonly groups: number;
  /** Number of different labels in the index of rules; rules without such a label apply everywhere. */
  readonly labels: number;
}

export const RULE_LIMITS: RuleLimits = { bytes: 1_000_000, cost: 400_000, groups: 2_000, labels: 64 };

export type RuleLimit = 'bytes' | 'cost' | 'groups';

export interface FittedRules {
  readonly placed: readonly PlacedRule[];
  /** Policies and quotas, by `ruleName`, that did not fit, and the limit that they would exceed. */
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
}

/** Adds the smallest rules first, so that a large policy never displaces a small one. `bytes` are already used. */
export function fitRules(
  drafts: readonly RuleDraft[],
  bytes = 0,
  { bytes: mostBytes, ...limits }: RuleLimits = RULE_LIMITS,
): FittedRules {
  const placed: PlacedRule[] = [];
  const leftOut = new Map<string, RuleLimit>();
  const groupsNamed = Math.min(limits.groups, groupsIn(drafts).size);
  const room = createRoom({ ...limits, bytes: mostBytes - bytes }, groupsNamed);
  for (const draft of drafts.toSorted(bySize)) {
    const place = room.placeFor(draft);
    const exceeded = room.exceededBy(draft, place);
    if (exceeded === undefined) {
      room.take(draft, place);
      placed.push({ rule: draft.rule, place });
    } else leftOut.set(ruleName(draft.rule), exceeded);
  }
  return { placed, leftOut };
}

/** A quota and a policy may have the same name. */
export function ruleName({ policy, counted }: Pick<UnplacedRule, 'policy' | 'counted'>): string {
  return counted === undefined ? policy : `PriorityQuota ${policy}`;
}

function bySize(a: RuleDraft, b: RuleDraft): number {
  return a.bytes - b.bytes || compareTexts(a.rule.policy, b.rule.policy);
}

function groupsIn(drafts: readonly RuleDraft[]): ReadonlySet<string> {
  return new Set(drafts.flatMap(({ rule }) => rule.subjects?.groups ?? []));
}

/** How much of the limits is used so far. */
function createRoom(limits: RuleLimits, groupsNamed: number) {
  const costs = highestCost();
  const groups = new Set<string>();
  let bytes = 0;

  function exceededBy(draft: RuleDraft, place: RulePlace): RuleLimit | undefined {
    if (bytes + bytesAt(draft, place) > limits.bytes) return 'bytes';
    if (costs.with(place, ruleCost(draft.rule, place, groupsNamed)) > limits.cost) return 'cost';
    const more = new Set(draft.rule.subjects?.groups.filter((group) => !groups.has(group)));
    return groups.size + more.size > limits.groups ? 'groups' : undefined;
  }

  return {
    exceededBy,
    placeFor: ({ requirements }: RuleDraft): RulePlace => {
      const place = placeRule(requirements);
      const isNew = place.label !== undefined && !costs.hasKey(place.label.key);
      return isNew && costs.keys() >= limits.labels ? placeEverywhere(requirements) : place;
    },
    take: (draft: RuleDraft, place: RulePlace): void => {
      bytes += bytesAt(draft, place);
      costs.add(place, ruleCost(draft.rule, place, groupsNamed));
      for (const group of draft.rule.subjects?.groups ?? []) groups.add(group);
    },
  };
}

/** A value in the index: its text and the numbers of its rules. */
const BYTES_OF_VALUE = 90;

function bytesAt({ bytes }: RuleDraft, { label }: RulePlace): number {
  return bytes + (label === undefined ? 0 : label.values.length * BYTES_OF_VALUE);
}

/** Where the index lists a rule, and which requirements remain to be tested there. */
export interface RulePlace {
  /** The label by which it is found, with each of these values; `undefined`: found in every namespace. */
  readonly label: { readonly key: string; readonly values: readonly string[] } | undefined;
  readonly tests: readonly LabelTest[];
}

/** A rule with more values is listed everywhere: each value takes its own index entry. */
const MAX_VALUES = 64;

/** The rule is indexed by the equality with the fewest values; `=` and `In` are equalities. */
export function placeRule(requirements: readonly Requirement[]): RulePlace {
  const leading = requirements
    .filter((each) => each.operator === 'In' && each.values.length <= MAX_VALUES)
    .toSorted((a, b) => a.values.length - b.values.length || compareTexts(a.key, b.key))[0];
  const tests = requirements.filter((each) => each !== leading).map(labelTest);
  if (leading === undefined) return { label: undefined, tests };
  return { label: { key: leading.key, values: [...new Set(leading.values)] }, tests };
}

/** The same rule, listed everywhere. */
export function placeEverywhere(requirements: readonly Requirement[]): RulePlace {
  return { label: undefined, tests: requirements.map(labelTest) };
}

/*
 * Upper bounds in the units by which the API server measures CEL, of which an expression may spend 1,000,000
 * (`pkg/apis/cel/config.go` PerCallLimit). test/cluster/policies measures what rules at these bounds really cost.
 */
/** More than its cost of 80: the time of a loop grows with the square of its length, and 4,000 rules took seconds. */
const PER_RULE = 400;
const PER_TEST = 20;
const PER_GIVEN = 20;
/** Looking one of the user's groups up among those of the rule. */
const PER_GROUP = 12;

/** The maximum cost of checking one rule for a pod whose user is in every group that any rule names. */
function ruleCost(rule: UnplacedRule, { tests }: RulePlace, groupsNamed: number): number {
  const { subjects, substitutes, counted } = rule;
  const given = rule.gives.reduce((sum, each) => sum + costOfGiving(each), 0);
  const names = (subjects?.users.length ?? 0) + 2 * (subjects?.serviceAccounts.length ?? 0);
  const groups = (subjects?.groups.length ?? 0) > 0 ? PER_GROUP * groupsNamed : 0;
  const classes = namesIn(limitsOf(rule)) + substitutes.size + namesCounted(counted);
  return PER_RULE + costOfTests(tests) + given + names + groups + classes;
}

/** Counted twice: rules are searched once to set a class and once to check it. */
function costOfGiving({ podLabels, ownerKinds }: GivenByRule): number {
  return 2 * (PER_GIVEN + costOfTests(podLabels) + ownerKinds.length);
}

function costOfTests(tests: readonly LabelTest[]): number {
  return tests.reduce((sum, test) => sum + PER_TEST + (test.values?.length ?? 0), 0);
}

/** The lists of a rule are searched once. */
function namesIn(limits: PolicyLimits): number {
  const { allowedClassNames, requireQuotaFor, runOn } = limits;
  return [allowedClassNames, requireQuotaFor, runOn.classNames].reduce((sum, names) => sum + (names?.length ?? 0), 0);
}

function namesCounted(counted: UnplacedRule['counted']): number {
  return counted?.kind === 'classes' ? counted.names.size : 0;
}

/**
 * The maximum cost of checking a pod of any one namespace: all rules that apply everywhere, and for each label those of
 * one value.
 */
export interface HighestCost {
  /** The cost with one more rule. */
  with(place: RulePlace, cost: number): number;
  add(place: RulePlace, cost: number): void;
  keys(): number;
  hasKey(key: string): boolean;
}

/** No rule yet. */
function highestCost(): HighestCost {
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
