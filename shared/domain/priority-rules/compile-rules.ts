import { byName, compareTexts } from '#shared/domain/base/texts.ts';
import {
  defaultClass,
  type PriorityClass,
  type PriorityClasses,
  isPersonal,
  type PriorityPolicy,
  rulesOf,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { PodArithmetic } from '#shared/domain/pod/pod.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { PreparedSelector } from '#shared/domain/labels/label-selector.ts';
import {
  fitRules,
  type PlacedRule,
  type RuleDraft,
  type RuleLimit,
  type RuleLimits,
  placeEverywhere,
} from './fit-rules.ts';
import {
  type LabelTest,
  type PriorityRule,
  type Receivers,
  type RuleClasses,
  type RuleIndex,
  type RuleSet,
  defaultingRule,
  givesClasses,
  grantsSpareRoom,
  givingRule,
  judges,
  judgingRule,
  labelRule,
  type UnplacedRule,
} from './priority-rules.ts';

export interface RuleSources {
  readonly policies: readonly PriorityPolicy[];
  readonly quotas: readonly PriorityQuota[];
  readonly classes: PriorityClasses;
  /** `DryRun` turns every refusal into a warning. */
  readonly mode: 'Enforce' | 'DryRun';
  /** From 1.37 on the API server takes no QoS class from a request, so there is none to check. */
  readonly arithmetic?: PodArithmetic;
  /** How many bytes a rule takes in storage, with the labels that it requires. */
  readonly bytesOf: (rule: UnplacedRule, tests: readonly LabelTest[]) => number;
  readonly limits?: RuleLimits;
}

/** The rules for the API server to enforce. */
export interface CompiledRules {
  readonly refusing: RuleSet | undefined;
  readonly warning: RuleSet | undefined;
  /** Which class and scheduler pods get, in every mode; `undefined` if no policy sets any. */
  readonly giving: RuleSet | undefined;
  /** Policies and quotas that only the webhook enforces, and the limit that they would exceed. */
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
}

/** Compiles all policies; the same policies and classes in any order give the same rules. */
export function compileRules(sources: RuleSources): CompiledRules {
  const { policies, mode } = sources;
  const refuses = ({ onViolation }: PriorityPolicy): boolean => onViolation === 'Deny' && mode === 'Enforce';
  const warns = (policy: PriorityPolicy): boolean => !refuses(policy);
  const refusing = mode === 'Enforce' ? buildSet(refuses, sources, true) : undefined;
  const warning =
    mode === 'DryRun' || policies.some((policy) => warns(policy) && judges(policy))
      ? buildSet(warns, sources, mode === 'DryRun')
      : undefined;
  const giving = buildGiving(sources);
  return {
    refusing: refusing?.set,
    warning: warning?.set,
    giving: giving?.set,
    leftOut: new Map([refusing, warning, giving].flatMap((built) => [...(built?.leftOut ?? [])])),
  };
}

const NO_RANKED: RuleClasses = { ranked: [], existing: new Map() };

interface BuiltSet {
  readonly set: RuleSet;
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
}

/**
 * The policies for which `belongs` is true decide in this set; the main set also has the rules without a policy. The
 * class that a pod gets matters for policies for users, and if a policy sets a default in place of the global default.
 */
function buildSet(belongs: (policy: PriorityPolicy) => boolean, sources: RuleSources, isMain: boolean): BuiltSet {
  const { policies, quotas, classes, mode, limits, arithmetic } = sources;
  const checksQosClass = isMain && arithmetic !== '1.37';
  const isDryRun = mode === 'DryRun';
  const judgesHere = (policy: PriorityPolicy): boolean => belongs(policy) && judges(policy);
  const judging = policies.filter(judgesHere);
  const replacesDefault = defaultClass(classes) !== undefined && judging.some((policy) => rulesOf(policy).length > 0);
  const ranked = replacesDefault || judging.some(isPersonal) ? rankClasses(classes) : [];
  const known = { ranked, existing: classes };
  // When a controller creates the pods of a template, policies for users no longer apply.
  const givesHere = (policy: PriorityPolicy): boolean =>
    ranked.length > 0 && givesClasses(policy) && (replacesDefault || !isPersonal(policy));
  const ofPolicies = policies.flatMap((policy) => {
    const wouldDeny = isDryRun && policy.onViolation === 'Deny';
    if (judgesHere(policy)) return draft(policy, judgingRule(policy, known, wouldDeny), sources);
    const grants = isMain && grantsSpareRoom(policy);
    if (!grants && !givesHere(policy)) return [];
    const rule = givingRule(policy, givesHere(policy) ? known : NO_RANKED);
    return draft(policy, grants ? { ...rule, runOn: policy.runOn } : rule, sources);
  });
  const labelled = isMain ? quotas.filter(({ requireLabel }) => requireLabel) : [];
  const ofQuotas = labelled.flatMap((quota) => draft(quota, labelRule(quota, isDryRun), sources));
  const { placed, leftOut } = fitRules([...ofPolicies, ...ofQuotas], ranked.length * BYTES_OF_CLASS, limits);
  const isGrantLeftOut = policies.some((policy) => grantsSpareRoom(policy) && leftOut.has(policy.name));
  const checks = { checksQosClass, checksSpareRoom: isMain && !isGrantLeftOut };
  return { set: { ...indexRules(placed), classes: ranked, ...checks, isDryRun }, leftOut };
}

/** What policies set, regardless of what a violation means: the class is set in dry run too. */
function buildGiving(sources: RuleSources): BuiltSet | undefined {
  const { classes, limits } = sources;
  const givers = sources.policies.filter(isGiver);
  if (givers.length === 0) return undefined;
  const named = new Set(givers.flatMap(classesNamed));
  const ranked = rankClasses(classes).filter(({ name, isGlobalDefault }) => named.has(name) || isGlobalDefault);
  const drafts = givers.flatMap((policy) =>
    draft(policy, defaultingRule(policy, { ranked, existing: classes }), sources),
  );
  const { placed, leftOut } = fitRules(drafts, ranked.length * BYTES_OF_CLASS, limits);
  const rules = indexRules(placed);
  const set = {
    ...rules,
    classes: ranked,
    checksQosClass: false,
    checksSpareRoom: false,
    isDryRun: false,
    receivers: receiversOf(rules.rules),
  };
  return { set, leftOut };
}

/** Whether the policy sets anything on pods. */
function isGiver(policy: PriorityPolicy): boolean {
  return givesClasses(policy) || policy.schedulerName !== undefined || grantsSpareRoom(policy);
}

function classesNamed(policy: PriorityPolicy): readonly string[] {
  const { substitutes } = policy;
  return [...rulesOf(policy).map(({ className }) => className), ...substitutes.keys(), ...substitutes.values()];
}

function receiversOf(rules: readonly PriorityRule[]): Receivers {
  return {
    classNames: new Set(rules.flatMap(({ substitutes }) => [...substitutes.keys()]).sort()),
    schedulers: rules.some(({ schedulerName }) => schedulerName !== undefined),
    spareClassNames: new Set(rules.filter(grantsSpareRoom).flatMap(({ runOn }) => runOn.classNames ?? ['*'])),
  };
}

/** Twice its name, which has at most 253 characters, its value and its policy. */
const BYTES_OF_CLASS = 600;

function rankClasses(classes: PriorityClasses): readonly PriorityClass[] {
  return [...classes.values()].sort((a, b) => a.value - b.value || byName(a, b));
}

/** A selector that matches nothing needs no rule. */
function draft(
  { namespaces: { requirements } }: { readonly namespaces: PreparedSelector },
  rule: UnplacedRule,
  { bytesOf }: RuleSources,
): readonly RuleDraft[] {
  if (requirements === undefined) return [];
  return [{ rule, requirements, bytes: bytesOf(rule, placeEverywhere(requirements).tests) }];
}

/** Numbers the rules by name, those of quotas last, and each list of numbers ascends. */
function indexRules(placed: readonly PlacedRule[]): Pick<RuleSet, 'rules' | 'byLabel' | 'everywhere'> {
  const sorted = placed.toSorted((a, b) => isOfQuota(a) - isOfQuota(b) || compareTexts(a.rule.policy, b.rule.policy));
  const rules = sorted.map(({ rule, place }, order): PriorityRule => ({ ...rule, order, requirements: place.tests }));
  const everywhere = sorted.flatMap(({ place }, order) => (place.label === undefined ? [order] : []));
  return { rules, byLabel: indexByLabel(sorted), everywhere };
}

function isOfQuota({ rule }: PlacedRule): number {
  return rule.counted === undefined ? 0 : 1;
}

function indexByLabel(placed: readonly PlacedRule[]): RuleIndex {
  const index = new Map<string, Map<string, number[]>>();
  for (const [order, { place }] of placed.entries()) {
    if (place.label === undefined) continue;
    const values = index.get(place.label.key) ?? new Map<string, number[]>();
    for (const value of place.label.values) {
      const orders = values.get(value) ?? [];
      orders.push(order);
      values.set(value, orders);
    }
    index.set(place.label.key, values);
  }
  return index;
}
