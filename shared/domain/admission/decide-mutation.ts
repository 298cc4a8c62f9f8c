import { CLASS_MESSAGES, PHRASES } from './messages/priority-messages.ts';
import { spareGrant } from '#shared/domain/priority/run-on.ts';
import { moveToSpareRoom, type SpareMove } from '#shared/domain/spare/spare-room.ts';
import type { Because } from '#shared/domain/base/because.ts';
import {
  resolvePriority,
  severalDefaults,
  defaultClass,
  PREEMPT_LOWER_PRIORITY,
  PREEMPT_NEVER,
  type PriorityClass,
  type PriorityClasses,
  type PriorityPolicy,
  classByRule,
  policiesFor,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { ClusterState, AvoidLookup } from './cluster-state.ts';
import { allow, refuse, type AdmissionDecision, type PodChange, type PriorityFields, reasonOf } from './decision.ts';
import { type PodRequest, DEFAULT_SCHEDULER } from './request.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { isBound, type Pod, ownerKeyOf, ownerText } from '#shared/domain/pod/pod.ts';
import type { ApiRefusal } from '#shared/domain/base/api-refusal.ts';

/**
 * Decides a new pod's class, priority and preemption policy, the rule to record for them, its scheduler if a policy
 * names one, the nodes to keep it away from, and whether it runs in spare room. A pod with contradictory fields is refused as the API server would
 * refuse it. Whether its class is allowed is decided later, on the final pod, in the validating phase.
 */
export function decideMutation(request: PodRequest, cluster: ClusterState): AdmissionDecision {
  const resolved = resolvePriority(request.pod, cluster.classes);
  if (resolved.kind === 'refused') return refuse(403, priorityRefusal(request.pod, resolved, cluster.classes));
  const policies = policiesFor(request, cluster);
  const choice = chooseClass(request, policies, cluster.classes);
  const scheduler = chooseScheduler(request, policies);
  const nodes = chooseNodes(request, cluster.avoidedBy);
  const spare = chooseRoom(request, choice.fields.priorityClassName, policies);
  const rule = ruleToRecord(request, choice, policies, cluster.classes);
  const reason = withRoom(withNodes(withScheduler(reasonFor(choice), scheduler), nodes), spare);
  const warning = choice.source === 'globalDefault' ? severalDefaults(cluster.classes) : undefined;
  const accepted = allow(reason, warning === undefined ? [] : [warning]);
  const additions = {
    ...(rule !== request.recordedRule && { classRule: rule ?? '' }),
    ...additionsOf(scheduler, nodes, spare),
  };
  const isComplete = Object.keys(additions).length === 0 && hasFields(request, choice.fields);
  return isComplete ? accepted : { ...accepted, change: { ...choice.fields, ...additions } };
}

function additionsOf(
  scheduler: SchedulerChoice | undefined,
  nodes: NodeChoice | undefined,
  spare: SpareMove | undefined,
): Partial<PodChange> {
  return {
    ...(scheduler && { schedulerName: scheduler.schedulerName }),
    ...(nodes && { avoidNodes: nodes.nodes }),
    ...(spare && { spare }),
  };
}

function hasFields({ pod }: PodRequest, fields: PriorityFields): boolean {
  const { priorityClassName = '', priority, preemptionPolicy } = pod.spec;
  return (
    priorityClassName === fields.priorityClassName &&
    priority === fields.priority &&
    preemptionPolicy === fields.preemptionPolicy
  );
}

function reasonFor({ source, policy = '', rule = policy, fields }: ClassChoice): Because {
  const facts = { ...fields };
  switch (source) {
    case 'pod':
      return reasonOf(CLASS_MESSAGES.podUsesClass, fields, facts);
    case 'policy':
      return rule === policy
        ? reasonOf(CLASS_MESSAGES.classOfPolicy, { ...fields, policy }, facts)
        : reasonOf(CLASS_MESSAGES.classOfRule, { ...fields, rule }, { ...facts, rule });
    case 'globalDefault':
      return reasonOf(CLASS_MESSAGES.classIsGlobalDefault, fields, facts);
    case 'substitute':
      return reasonOf(CLASS_MESSAGES.classReplaced, { ...fields, policy }, facts);
    case 'none':
      return reasonOf(CLASS_MESSAGES.noClass, {}, facts);
  }
}

function withScheduler(reason: Because, choice: SchedulerChoice | undefined): Because {
  if (choice === undefined) return reason;
  const { policy, schedulerName } = choice;
  const text = reason.text + PHRASES.schedulerOfPolicy(policy, schedulerName);
  return { ...reason, text, facts: { ...reason.facts, schedulerName } };
}

function withNodes(reason: Because, choice: NodeChoice | undefined): Because {
  if (choice === undefined) return reason;
  return { ...reason, text: reason.text + PHRASES.keptAwayFrom(choice.nodes, choice.owner) };
}

/** The class that a pod gets and where it comes from; `fields` are its three priority fields. */
interface ClassChoice {
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
function ruleToRecord(
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

/** The scheduler that a policy gives to a pod. */
interface SchedulerChoice {
  readonly schedulerName: string;
  readonly policy: string;
}

/**
 * The scheduler that the policies of a pod name; with several policies, the first by name. `undefined` if none names
 * one, if the pod names its own scheduler, or if the pod is already on a node.
 */
function chooseScheduler(
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

function withRoom(reason: Because, spare: SpareMove | undefined): Because {
  return spare === undefined ? reason : { ...reason, text: reason.text + PHRASES.movedToSpareRoom(spare.requested) };
}

/** The move of a pod of this class that its policies send to spare room, or allow to go there as it asks. */
export function chooseRoom(
  { pod, asksSpareRoom }: PodRequest,
  className: string,
  policies: readonly PriorityPolicy[],
): SpareMove | undefined {
  const grant = spareGrant(policies, className);
  return grant === 'Always' || (grant === 'IfAsked' && asksSpareRoom) ? moveToSpareRoom(pod) : undefined;
}

/** What a pod is given, with its owner for the message. */
interface NodeChoice {
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

/**
 * Why a pod with an unknown class, or with a priority or preemption policy that differs from its class, is refused: the
 * API server's own message.
 */
export function priorityRefusal(pod: Pod, refusal: ApiRefusal, classes: PriorityClasses): Because {
  const { priorityClassName: name = '', priority, preemptionPolicy } = pod.spec;
  if (name !== '' && !classes.has(name)) {
    return reasonOf(CLASS_MESSAGES.unknownClass, { apiServer: refusal.message }, { priorityClassName: name });
  }
  const facts = {
    priorityClassName: name,
    ...(priority !== undefined && { priority }),
    ...(preemptionPolicy !== undefined && { preemptionPolicy }),
  };
  return reasonOf(CLASS_MESSAGES.fieldsDifferFromClass, { apiServer: refusal.message }, facts);
}
