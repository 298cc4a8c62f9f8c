import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import {
  defaultClass,
  PREEMPT_LOWER_PRIORITY,
  PREEMPT_NEVER,
  type PriorityClass,
  type PriorityClasses,
} from '#shared/domain/priority/priority-class.ts';
import {
  type PriorityPolicy,
  type PolicySubject,
  classByRule,
  serviceAccountUser,
} from '#shared/domain/priority/priority-policy.ts';
import { isBound } from '#shared/domain/pod/pod.ts';
import { ownerKeyOf, ownerText } from '#shared/domain/pod/pod-owner.ts';
import type { AvoidLookup, ClusterState } from './cluster-state.ts';
import type { PriorityFields } from './decision.ts';
import type { PodRequest } from './request.ts';

/**
 * The policies that apply to a pod: they select its namespace, and the requester or the service account that the pod
 * runs as (a controller's pod does not show the user; its template was checked when the user wrote it).
 */
export function policiesFor(request: PodRequest, cluster: ClusterState): readonly PriorityPolicy[] {
  const labels = cluster.namespaceLabels(request.pod.namespace) ?? NO_LABELS;
  return cluster.policies.filter(
    ({ namespaces, subjects }) =>
      namespaces.matches(labels) && (subjects.length === 0 || subjects.some((each) => isSubject(each, request))),
  );
}

function isSubject(subject: PolicySubject, { requester, pod, serviceAccountName }: PodRequest): boolean {
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

/** The class that a pod gets and where it comes from; `fields` are its three priority fields. */
export interface ClassChoice {
  readonly source: 'pod' | 'policy' | 'globalDefault' | 'substitute' | 'none';
  /** The policy that set or replaced it. */
  readonly policy: string | undefined;
  /** The rule that gave it, or that gave the class which a substitute replaces; as it is recorded on the pod. */
  readonly rule: string | undefined;
  readonly fields: PriorityFields;
}

/**
 * Chooses the pod's own class, else that which the rules and defaults of its policies give, else the global default; then
 * its substitute, if a policy forbids preemption and names one. The pod's class must exist.
 */
export function chooseClass(
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
): ClassChoice {
  const choice = firstChoice(request, policies, classes);
  const found = classes.get(choice.fields.priorityClassName);
  const substitute = found && findSubstitute(found, policies, classes);
  return substitute === undefined ? choice : { ...substitute, rule: choice.rule };
}

function firstChoice(request: PodRequest, policies: readonly PriorityPolicy[], classes: PriorityClasses): ClassChoice {
  const globalDefault = defaultClass(classes);
  const named = namedClass(request, globalDefault);
  const own = named === undefined ? undefined : classes.get(named);
  if (own !== undefined) return choiceOf('pod', own, undefined);
  const fromPolicy = lowestByRule(request, policies, classes);
  if (fromPolicy !== undefined) {
    const { given, policy, record: rule } = fromPolicy;
    return { ...choiceOf('policy', given, policy), rule };
  }
  if (globalDefault !== undefined) return choiceOf('globalDefault', globalDefault, undefined);
  const fields = { priorityClassName: '', priority: 0, preemptionPolicy: PREEMPT_LOWER_PRIORITY };
  return { source: 'none', policy: undefined, rule: undefined, fields };
}

/** The class that the user named. The API server writes the default's name into a pod before it calls webhooks. */
export function namedClass(
  { pod, classNamedBy }: PodRequest,
  globalDefault: PriorityClass | undefined,
): string | undefined {
  const name = pod.spec.priorityClassName;
  const wasFilledIn = classNamedBy === 'default' && name === globalDefault?.name;
  return wasFilledIn ? undefined : name;
}

/** If several policies give a class, the one with the lowest value applies, as with several global defaults. */
function lowestByRule(
  { pod: { labels }, ownerKind }: PodRequest,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
) {
  const candidates = policies.flatMap((policy) => {
    const ruled = classByRule(policy, { labels, ownerKind }, classes);
    return ruled === undefined ? [] : [{ policy: policy.name, ...ruled }];
  });
  return candidates.sort((a, b) => a.given.value - b.given.value || compareTexts(a.given.name, b.given.name))[0];
}

function findSubstitute(
  preempting: PriorityClass,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
): ClassChoice | undefined {
  if (preempting.preemptionPolicy === PREEMPT_NEVER) return undefined;
  for (const { name, preemption, substitutes } of policies) {
    const substitute = preemption === 'Never' ? classes.get(substitutes.get(preempting.name) ?? '') : undefined;
    if (substitute?.preemptionPolicy === PREEMPT_NEVER) return choiceOf('substitute', substitute, name);
  }
  return undefined;
}

function choiceOf(source: ClassChoice['source'], chosen: PriorityClass, policy: string | undefined): ClassChoice {
  return { source, policy, rule: undefined, fields: fieldsOf(chosen) };
}

/** The priority fields of a pod of this class. */
export function fieldsOf({ name, value, preemptionPolicy }: PriorityClass): PriorityFields {
  return { priorityClassName: name, priority: value, preemptionPolicy };
}

/**
 * The rule to record on the pod. An existing record stays if the rules give such a pod the same class by the same rule:
 * the policy in the API server wrote it, or could have. Any other record was forged.
 */
export function ruleToRecord(
  request: PodRequest,
  choice: ClassChoice,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
): string | undefined {
  const { recordedRule, pod } = request;
  if (choice.rule !== undefined || recordedRule === undefined) return choice.rule;
  const classless = { ...pod, spec: { ...pod.spec, priorityClassName: undefined } };
  const { rule, fields } = chooseClass({ ...request, pod: classless }, policies, classes);
  const isTrue = rule === recordedRule && fields.priorityClassName === choice.fields.priorityClassName;
  return isTrue ? rule : undefined;
}

/** What the API server writes into a pod that names no scheduler. */
export const DEFAULT_SCHEDULER = 'default-scheduler';

/** The scheduler that a policy gives to a pod. */
export interface SchedulerChoice {
  readonly schedulerName: string;
  readonly policy: string;
}

/**
 * The scheduler that the policies of a pod name; with several policies, the first by name. `undefined` if none names
 * one, if the pod names its own scheduler, or if the pod is already on a node.
 */
export function chooseScheduler(
  { pod, schedulerName }: PodRequest,
  policies: readonly PriorityPolicy[],
): SchedulerChoice | undefined {
  if (schedulerName !== DEFAULT_SCHEDULER || isBound(pod)) return undefined;
  const [first] = policies
    .flatMap(({ name: policy, schedulerName: given }) =>
      given === undefined ? [] : [{ policy, schedulerName: given }],
    )
    .sort((a, b) => compareTexts(a.policy, b.policy));
  return first?.schedulerName === DEFAULT_SCHEDULER ? undefined : first;
}

/** What a pod is given, with its owner for the message. */
export interface NodeChoice {
  readonly owner: string;
  /** Sorted. */
  readonly nodes: readonly string[];
}

/**
 * Maximum number of nodes that one pod is kept away from. It bounds the size of pods whose owner was evicted from many
 * nodes.
 */
const MAX_NODES = 16;

/**
 * The nodes that a new pod should not be placed on because they evicted pods of its controller (S3-30); `undefined` if
 * there are none. If there are too many, the longest-lasting entries win. Hard entries become a preference too: a
 * required affinity cannot be removed later, so it would outlast the entry, and a pod that fits on one node only would
 * never run. Pods of DaemonSets are left unchanged, because their controller ties them to their nodes.
 */
export function chooseNodes({ pod }: PodRequest, lookUp: AvoidLookup | undefined): NodeChoice | undefined {
  const owner = ownerKeyOf(pod);
  const hasPlace = owner?.kind === 'DaemonSet' || isBound(pod);
  if (lookUp === undefined || owner === undefined || hasPlace) return undefined;
  const nodes = lookUp(owner);
  return nodes.length === 0 ? undefined : { owner: ownerText(owner), nodes: nodes.slice(0, MAX_NODES).sort() };
}
