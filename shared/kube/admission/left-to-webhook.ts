/*
 * Which pods the API server still sends to the webhook although it applies rules and defaults itself. The conditions
 * use facts about the pod and constants of the compiled rules, never a mark that a tenant could write
 * (docs/contributing/decisions/defaults-in-api-server.md). If a condition fails, the API server skips the webhook. So a field is
 * read only if it is there, and no loop runs over anything that a caller writes.
 */
import {
  type PriorityClass,
  type PriorityClasses,
  defaultClass,
  PREEMPT_LOWER_PRIORITY,
  PREEMPT_NEVER,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { RuleSet } from '#shared/domain/priority-rules/priority-rules.ts';
import { LONG_GRACE_SECONDS } from '#shared/domain/admission/warnings.ts';
import { READ_ANNOTATIONS } from '#shared/kube/decode/decode-pod-request.ts';
import { MAY_GET_SCHEDULER } from './default-policy.ts';
import { CLASS_OF_POD, HAS_RECORD } from './chosen-class.ts';
import { celList, condition, type MatchCondition, NOT_A_CONTROLLER } from './cel-expressions.ts';

/** The rules and defaults that the API server applies now. */
export interface InProcessRules {
  /** The defaults for pods; `undefined` if no policy has any. */
  readonly giving: RuleSet | undefined;
  readonly classes: PriorityClasses;
  /** Where pods are kept off nodes: only the webhook turns avoid lists into node affinity. */
  readonly avoiding: Avoiding;
}

/** The namespaces of the owners that avoid lists name; `everywhere` if there are too many of them. */
export type Avoiding = readonly string[] | 'everywhere';

/** The conditions for the two entries for pods. */
export interface PodConditions {
  readonly mutating: MatchCondition;
  readonly validating: MatchCondition;
}

export const LEFT_TO_WEBHOOK = 'left-to-webhook';
/** With more constants a lookup costs more than it saves, and the API server limits the cost of conditions. */
export const MAX_CLASSES = 64;

/** `undefined` if there are too many classes: then the webhook is asked about every pod. */
export function leftToWebhook(rules: InProcessRules): PodConditions | undefined {
  const replaced = rules.giving?.receivers?.classNames.size ?? 0;
  if (Math.max(rules.classes.size, replaced) > MAX_CLASSES) return undefined;
  return {
    mutating: condition(LEFT_TO_WEBHOOK, anyOf(toBeGiven(rules))),
    validating: condition(LEFT_TO_WEBHOOK, anyOf([notOfAClass(rules.classes), WARNED_OF])),
  };
}

function toBeGiven({ giving, classes, avoiding }: InProcessRules): readonly string[] {
  const asked = givesDefaults(giving) ? ['', ...globalDefaultOf(classes)] : [];
  const { classNames = new Set<string>(), schedulers = false } = giving?.receivers ?? {};
  const names = [...new Set([...asked, ...classNames])].sort();
  return [
    ...(names.length > 0 ? [`${CLASS_OF_POD} in ${celList(names)}`] : []),
    ...(schedulers ? [MAY_GET_SCHEDULER] : []),
    // If a policy sets a class, the API server itself removes a record that a user wrote.
    ...(giving === undefined ? [HAS_RECORD] : []),
    ...mayAvoid(avoiding),
  ];
}

/** A pod with an owner, which may be one that an avoid list names. */
function mayAvoid(avoiding: Avoiding): readonly string[] {
  if (avoiding.length === 0) return [];
  const hasOwner = 'size(object.metadata.?ownerReferences.orValue([])) > 0';
  return avoiding === 'everywhere' ? [hasOwner] : [`request.namespace in ${celList(avoiding)} && ${hasOwner}`];
}

export const NOT_ELSEWHERE = 'not-elsewhere';
const IS_BUDGET = "request.resource.resource == 'poddisruptionbudgets'";

/** What the webhook does in every namespace. */
export interface Nevertheless {
  readonly avoiding: Avoiding;
  /** Whether a DisruptionPolicy refuses budgets, or warns about them. */
  readonly judgesBudgets: boolean;
}

/**
 * Leaves out the namespaces for which nothing is configured, so that a webhook that hangs delays nothing there. Of their
 * pods, only those are asked about for which something is to be done nevertheless. `undefined` if there are none.
 */
export function notElsewhere(
  elsewhere: readonly string[],
  { avoiding, judgesBudgets }: Nevertheless,
): (PodConditions & { readonly templates: MatchCondition }) | undefined {
  if (elsewhere.length === 0) return undefined;
  const isHere = `!(request.namespace in ${celList(elsewhere)})`;
  const named = (...nevertheless: readonly string[]): MatchCondition =>
    condition(NOT_ELSEWHERE, anyOf([isHere, ...nevertheless]));
  return {
    mutating: named(HAS_RECORD, ...mayAvoid(avoiding)),
    validating: named(WARNED_OF),
    templates: named(...(judgesBudgets ? [IS_BUDGET] : [])),
  };
}

/** Class, number and preemption policy do not together match an existing class, or no class. */
function notOfAClass(classes: PriorityClasses): string {
  const known = [NO_CLASS, ...classes.values()];
  return `!(${TRIPLE} in ${celList(known.map(tripleOf).sort())})`;
}

const NO_CLASS: Pick<PriorityClass, 'name' | 'value' | 'preemptionPolicy'> = {
  name: '',
  value: 0,
  preemptionPolicy: PREEMPT_LOWER_PRIORITY,
};
const POLICY = `object.spec.?preemptionPolicy.orValue('${PREEMPT_LOWER_PRIORITY}')`;
/** No part contains a space. */
const TRIPLE = `(${CLASS_OF_POD} + ' ' + string(object.spec.?priority.orValue(0)) + ' ' + ${POLICY})`;

function tripleOf({ name, value, preemptionPolicy }: typeof NO_CLASS): string {
  return `${name} ${value} ${preemptionPolicy}`;
}

/**
 * Pods created by a person, who can read warnings, and that have something to warn about
 * (shared/domain/admission/warnings.ts).
 */
const WARNED_OF = [
  `(${NOT_A_CONTROLLER.expression} && (`,
  [
    ...READ_ANNOTATIONS.map((name) => `'${name}' in object.metadata.?annotations.orValue({})`),
    `object.spec.?terminationGracePeriodSeconds.orValue(0) > ${LONG_GRACE_SECONDS}`,
    'object.spec.?affinity.?podAffinity.hasValue()',
    `${POLICY} == '${PREEMPT_NEVER}'`,
  ].join(' || '),
  '))',
].join('');

function givesDefaults(giving: RuleSet | undefined): boolean {
  return giving?.rules.some(({ gives }) => gives.length > 0) === true;
}

function globalDefaultOf(classes: PriorityClasses): readonly string[] {
  const name = defaultClass(classes)?.name;
  return name === undefined ? [] : [name];
}

function anyOf(expressions: readonly string[]): string {
  return expressions.length === 0 ? 'false' : expressions.map((each) => `(${each})`).join(' || ');
}
