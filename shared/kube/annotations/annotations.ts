import type { OwnerWishes } from '#shared/domain/admission/decide-disruption.ts';
import {
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_EVICT,
  FOREIGN_ALLOW_PREEMPTION,
  PREEMPTION_BY_POD,
  PROTECTED_NAMESPACES,
  LABEL_APPLICATION,
  LABEL_APPLICATION_OF_OTHERS,
  LABEL_ORIGINATOR,
  LABEL_SPARK_ROLE,
  QUEUE_GATE,
  LABEL_IGNORE,
} from '#shared/kube/api-names.ts';
import { isOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { type Pod, controllerOf } from '#shared/domain/pod/pod.ts';
import { preemptionProtection } from '#shared/domain/placement/victims/victims-on-node.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { DEFAULT_OPT_OUT_CEILING } from '#shared/domain/eviction/protection.ts';
import type { MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import { hasForeignWish } from './wishes.ts';

type Annotations = ReadonlyMap<string, string>;

const NONE: Annotations = new Map();

/**
 * What the owner of a pod asks for by annotations of the pod and of its class, including those of other projects.
 * Administrators write classes, while any tenant writes pods. A pod is therefore exempt from preemption by its class,
 * or by its own annotation if the class leaves that to its pods (D-22).
 */
export function ownerWishes(pod: Annotations, priorityClass: Annotations = NONE): OwnerWishes {
  return {
    mayBeEvicted: pod.get(ANNOTATION_EVICT) !== 'never',
    mayBePreempted: mayBePreempted(preemptionWish(pod), preemptionWish(priorityClass)),
  };
}

function mayBePreempted(ofPod: string | undefined, ofClass: string | undefined): boolean {
  if (ofClass === 'false') return ofPod === 'true';
  return ofClass !== PREEMPTION_BY_POD || ofPod !== 'false';
}

function preemptionWish(annotations: Annotations): string | undefined {
  return annotations.get(ANNOTATION_ALLOW_PREEMPTION) ?? annotations.get(FOREIGN_ALLOW_PREEMPTION);
}

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMESPACES);

/**
 * Which pods may not be preempted, by the annotations of pods and classes and by protected namespaces; `classOf`
 * returns a PriorityClass by name. The extender uses it, and `plimsoll simulate` shows it.
 */
export function protectedFromPreemption(
  classOf: (name: string) => AnnotatedClass | undefined,
): ProposalRules['protection'] {
  const optedOut = ({ annotations, spec }: Pod): boolean =>
    !ownerWishes(annotations, classOf(spec.priorityClassName ?? '')?.annotations).mayBePreempted;
  return (victim, preemptor) => preemptionProtection(victim, preemptor, { protectedNamespaces: PROTECTED, optedOut });
}

/**
 * Adds preemption loops. They come first: an opt-out yields to the last resort of a DaemonSet (S2-29), a loop does not.
 */
export function orRefusedByLoop(
  protection: ProposalRules['protection'],
  refusal: ProposalRules['protection'],
): ProposalRules['protection'] {
  return (victim, preemptor) => refusal(victim, preemptor) ?? protection(victim, preemptor);
}

/** Whether a pod asks to be evicted last. Its annotation counts only up to the priority ceiling for opting out. */
export function isMarkedLast({ annotations, spec }: Pod, optOutCeiling: number): boolean {
  const isMarked = annotations.get(ANNOTATION_EVICT) === 'last' || hasForeignWish(annotations);
  return isMarked && (spec.priority ?? 0) <= optOutCeiling;
}

/*
 * The labels and scheduling gates of pods and namespaces that concern queues. The leader and the command line both read
 * them here.
 */

/** Whether pods of a namespace with these labels wait in queues. */
export function isManaged(labels: ReadonlyMap<string, string> | undefined): boolean {
  return isOn(NAMESPACE_SWITCHES.queues, labels);
}

/** By its own label, the label of Spark or YuniKorn, its controller, or the pod alone. */
export function applicationOf({
  labels,
  namespace,
  owners,
  uid,
}: Pick<Pod, 'labels' | 'namespace' | 'owners' | 'uid'>): string {
  const name = labels.get(LABEL_APPLICATION) ?? labels.get(LABEL_APPLICATION_OF_OTHERS);
  if (name !== undefined) return `${namespace}/${name}`;
  return controllerOf({ owners })?.uid ?? uid;
}

/** By its label, or by Spark's label for drivers. */
export function isMarkedOriginator({ labels }: Pick<Pod, 'labels'>): boolean {
  return labels.get(LABEL_ORIGINATOR) === 'true' || labels.get(LABEL_SPARK_ROLE) === 'driver';
}

/** The names of the other scheduling gates of a pod that has ours; `undefined` if ours is off. */
export function otherGates(raw: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const names = gatesOf(raw);
  return names.includes(QUEUE_GATE) ? names.filter((name) => name !== QUEUE_GATE) : undefined;
}

/** The names of the scheduling gates of others. */
export function foreignGates(raw: Readonly<Record<string, unknown>>): readonly string[] {
  return gatesOf(raw).filter((name) => name !== QUEUE_GATE);
}

const NO_GATES: readonly string[] = [];

function gatesOf(raw: Readonly<Record<string, unknown>>): readonly string[] {
  const gates = itemsOf(fieldOf(raw['spec'], 'schedulingGates'));
  return gates.length === 0 ? NO_GATES : gates.map((gate) => String(fieldOf(gate, 'name')));
}

/**
 * Which pods the rescheduler never moves. Moves are optional, so unlike an eviction for node pressure the rescheduler
 * also honours the annotations of other programs with the same meaning.
 */
export function moveRules(
  namespaces: ReadonlyMap<string, ReadonlyMap<string, string>>,
  fitElsewhere: boolean,
): MoveRules {
  const ignored = [...namespaces].filter(([, labels]) => labels.get(LABEL_IGNORE) === 'true').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...ignored]),
    optOutCeiling: DEFAULT_OPT_OUT_CEILING,
    wantsToStay: ({ annotations }) => !ownerWishes(annotations).mayBeEvicted || hasForeignWish(annotations),
    fitElsewhere,
  };
}
