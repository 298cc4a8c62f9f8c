import { type ApiRefusal, forbidden, displayName } from '#shared/domain/base/api-refusal.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { ON_REQUESTED_ROOM, roomTexts, type RunOn } from './run-on.ts';
import { EVERYTHING, NO_LABELS, type PreparedSelector } from '#shared/domain/labels/label-selector.ts';

/** A PriorityClass with the API's defaults applied; `preemptionPolicy` may be any text until it is validated. */
export interface PriorityClass {
  readonly name: string;
  readonly uid: string;
  readonly value: number;
  readonly isGlobalDefault: boolean;
  readonly preemptionPolicy: string;
}

/** The classes of a cluster by name. */
export type PriorityClasses = ReadonlyMap<string, PriorityClass>;

export const PREEMPT_LOWER_PRIORITY = 'PreemptLowerPriority';
export const PREEMPT_NEVER = 'Never';

/**
 * The class of pods that name none. If there are several, the one with the lowest value applies (oddity P3); among
 * equal values the first by name, where Kubernetes leaves it to chance. `plugin/pkg/admission/priority/admission.go` getDefaultPriorityClass.
 */
export function defaultClass(classes: PriorityClasses): PriorityClass | undefined {
  let chosen: PriorityClass | undefined;
  for (const candidate of classes.values()) {
    if (candidate.isGlobalDefault && (chosen === undefined || comesFirst(candidate, chosen))) chosen = candidate;
  }
  return chosen;
}

function comesFirst(a: PriorityClass, b: PriorityClass): boolean {
  return a.value === b.value ? a.name < b.name : a.value < b.value;
}

/**
 * Two classes can become the default at once, because the API server checks a cache; which one then applies is a
 * surprise (S1-5).
 */
export function severalDefaults(classes: PriorityClasses): string | undefined {
  const defaults = [...classes.values()].filter(({ isGlobalDefault }) => isGlobalDefault).map(({ name }) => name);
  const lowest = defaultClass(classes);
  if (lowest === undefined || defaults.length < 2) return undefined;
  const names = defaults
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ');
  return `several priority classes are the global default (${names}): the lowest, \`${lowest.name}\`, counts`;
}

/** The three fields that must agree, as stored. */
export interface PodPriority {
  readonly kind: 'resolved';
  readonly priorityClassName: string;
  readonly priority: number | undefined;
  readonly preemptionPolicy: string | undefined;
}

/**
 * What a new pod's priority is: its class, else the default class, else 0. An explicit number or policy must equal the
 * computed one; the number is checked first (oddity P2). `plugin/pkg/admission/priority/admission.go` admitPod.
 */
export function resolvePriority(pod: Pod, classes: PriorityClasses): PodPriority | ApiRefusal {
  const computed = computePriority(pod.spec.priorityClassName, classes);
  if (computed === undefined) {
    return refuse(pod, `no PriorityClass with name ${pod.spec.priorityClassName ?? ''} was found`);
  }
  const { priority, preemptionPolicy } = pod.spec;
  if (priority !== undefined && priority !== computed.priority) {
    return refuse(pod, mismatch('integer value of priority', String(priority), String(computed.priority)));
  }
  if (preemptionPolicy !== undefined && preemptionPolicy !== computed.preemptionPolicy) {
    return refuse(pod, mismatch('string value of PreemptionPolicy', preemptionPolicy, computed.preemptionPolicy));
  }
  return computed;
}

function computePriority(className: string | undefined, classes: PriorityClasses) {
  const found = className === undefined ? defaultClass(classes) : classes.get(className);
  if (found === undefined && className !== undefined) return undefined;
  return {
    kind: 'resolved',
    priorityClassName: found?.name ?? '',
    priority: found?.value ?? 0,
    preemptionPolicy: found?.preemptionPolicy ?? PREEMPT_LOWER_PRIORITY,
  } as const;
}

function refuse(pod: Pod, why: string): ApiRefusal {
  return forbidden('pods', displayName(pod), why);
}

function mismatch(what: string, given: string, computed: string): string {
  return (
    `the ${what} (${given}) must not be provided in pod spec; ` +
    `priority admission controller computed ${computed} from the given PriorityClass name`
  );
}

/** A subject that a policy applies to. */
export type PolicySubject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string };

/** What the names of all service accounts as users begin with. */
export const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The user that the API server takes a service account for. `k8s.io/apiserver/pkg/authentication/serviceaccount/util.go` MakeUsername. */
export function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** What a policy forbids: one field for each rule of shared/domain/admission/policy-rules.ts. */
export interface PolicyLimits {
  /** `undefined` allows every class. */
  readonly allowedClassNames: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: 'Allow' | 'Never';
  readonly requireQuotaFor: readonly string[];
  readonly runOn: RunOn;
}

/** Forbids nothing. */
export const NO_LIMITS: PolicyLimits = {
  allowedClassNames: undefined,
  maxPriority: undefined,
  preemption: 'Allow',
  requireQuotaFor: [],
  runOn: ON_REQUESTED_ROOM,
};

/** The limits alone. */
export function limitsOf(policy: PolicyLimits): PolicyLimits {
  const { allowedClassNames, maxPriority, preemption, requireQuotaFor, runOn } = policy;
  return { allowedClassNames, maxPriority, preemption, requireQuotaFor, runOn };
}

/** What they require of pods in a list of what a policy allows, each as in `up to priority 1,000`. */
export function limitTexts({ maxPriority, requireQuotaFor, runOn }: PolicyLimits): readonly string[] {
  return [
    ...(maxPriority === undefined ? [] : [`up to priority ${maxPriority.toLocaleString('en-GB')}`]),
    ...(requireQuotaFor.length === 0 ? [] : [`only with a quota: ${requireQuotaFor.join(', ')}`]),
    ...roomTexts(runOn),
  ];
}

/** A PriorityPolicy as the decisions see it: which classes the pods of some namespaces and people may use. */
export interface PriorityPolicy extends PolicyLimits {
  readonly name: string;
  readonly namespaces: PreparedSelector;
  /** Empty means everyone. */
  readonly subjects: readonly PolicySubject[];
  readonly defaultClassName: string | undefined;
  /** The first rule that matches a pod without a class sets its class, in place of the default. */
  readonly classRules: readonly ClassRule[];
  /** Class that preempts → class that a pod gets instead. */
  readonly substitutes: ReadonlyMap<string, string>;
  readonly onViolation: 'Deny' | 'Warn';
  /** Set on pods that name no scheduler. */
  readonly schedulerName: string | undefined;
}

/**
 * For a pod that a controller creates, users and groups are unknown; the service account is known, because the pod
 * names it.
 */
export function isPersonal({ subjects }: PriorityPolicy): boolean {
  return subjects.some(({ kind }) => kind !== 'ServiceAccount');
}

/** The fields of a policy that name a class. */
export function fieldsNaming(className: string, policy: PriorityPolicy): readonly string[] {
  const { defaultClassName, classRules, allowedClassNames = [], substitutes, requireQuotaFor, runOn } = policy;
  const names: Readonly<Record<string, readonly (string | undefined)[]>> = {
    defaultPriorityClassName: [defaultClassName],
    classRules: classRules.map((rule) => rule.className),
    allowedPriorityClassNames: allowedClassNames,
    substitutePriorityClassNames: [...substitutes].flat(),
    requireQuotaFor,
    sparePriorityClassNames: runOn.classNames ?? [],
  };
  return Object.keys(names).filter((field) => names[field]?.includes(className));
}

/** Whose pod it is, and where. */
interface PolicyTarget {
  readonly pod: { readonly namespace: string };
  readonly requester: { readonly name: string; readonly groups: readonly string[] };
  readonly serviceAccountName: string;
}

/** All policies, and the labels by which they select namespaces. */
interface KnownPolicies {
  readonly policies: readonly PriorityPolicy[];
  readonly namespaceLabels: (namespace: string) => ReadonlyMap<string, string> | undefined;
}

/**
 * The policies that apply to a pod: they select its namespace, and the requester or the service account that the pod
 * runs as (a controller's pod does not show the user; its template was checked when the user wrote it).
 */
export function policiesFor(target: PolicyTarget, known: KnownPolicies): readonly PriorityPolicy[] {
  const labels = known.namespaceLabels(target.pod.namespace) ?? NO_LABELS;
  return known.policies.filter(
    ({ namespaces, subjects }) =>
      namespaces.matches(labels) && (subjects.length === 0 || subjects.some((each) => isSubject(each, target))),
  );
}

function isSubject(subject: PolicySubject, { requester, pod, serviceAccountName }: PolicyTarget): boolean {
  switch (subject.kind) {
    case 'User':
      return requester.name === subject.name;
    case 'Group':
      return requester.groups.includes(subject.name);
    case 'ServiceAccount':
      return (
        requester.name === serviceAccountUser(subject) ||
        (pod.namespace === subject.namespace && serviceAccountName === subject.name)
      );
  }
}

/** A rule of a policy: the class of pods that name none, by their labels and the kind of their owner. */
export interface ClassRule {
  readonly name: string;
  readonly pods: PreparedSelector;
  /** Kinds of the controller that owns the pod; empty matches pods of every owner, and pods without one. */
  readonly ownerKinds: readonly string[];
  readonly className: string;
}

/** A rule with the name that is recorded on the pod: `POLICY/RULE`, or `POLICY` for the default of a policy. */
interface RecordedRule extends Pick<ClassRule, 'ownerKinds' | 'className'> {
  readonly pods: Pick<PreparedSelector, 'matches' | 'requirements'>;
  readonly record: string;
}

/** The field of a policy that decides which class pods get. */
type ClassGivingFields = Pick<PriorityPolicy, 'name' | 'defaultClassName' | 'classRules'>;

/** The rules of a policy in the order in which they are tried; the default comes last and matches every pod. */
export function rulesOf({ name, classRules, defaultClassName: className }: ClassGivingFields): readonly RecordedRule[] {
  const rules = classRules.map((rule) => ({ ...rule, record: `${name}/${rule.name}` }));
  return className === undefined ? rules : [...rules, { pods: EVERYTHING, ownerKinds: [], className, record: name }];
}

/**
 * If a pod names more, its owner is not looked up: anyone can write owner references, and the API server evaluates them
 * too.
 */
export const MAX_OWNERS = 100;

/** The facts about a pod that rules match. */
interface RuledPod {
  readonly labels: ReadonlyMap<string, string>;
  /** Kind of its controller; `undefined` without one. */
  readonly ownerKind: string | undefined;
}

/** The class that a policy gives to a pod without one, and the rule that gives it. */
interface RuledClass {
  readonly given: PriorityClass;
  readonly record: string;
}

/** From the first rule that matches the pod and whose class exists; `undefined` if there is none (S3-9). */
export function classByRule(
  policy: ClassGivingFields,
  pod: RuledPod,
  classes: PriorityClasses,
): RuledClass | undefined {
  for (const { className, record, ...rule } of rulesOf(policy)) {
    const given = classes.get(className);
    if (given !== undefined && takes(rule, pod)) return { given, record };
  }
  return undefined;
}

function takes({ pods, ownerKinds }: Pick<RecordedRule, 'pods' | 'ownerKinds'>, { labels, ownerKind }: RuledPod) {
  const isOwned = ownerKinds.length === 0 || (ownerKind !== undefined && ownerKinds.includes(ownerKind));
  return isOwned && pods.matches(labels);
}

/** A class with its annotations. */
export interface AnnotatedClass extends PriorityClass {
  readonly annotations: ReadonlyMap<string, string>;
}
