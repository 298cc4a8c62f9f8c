import type { Pod } from '#shared/domain/pod/pod.ts';
import { inSpareRoom } from '#shared/domain/spare/spare-room.ts';
import type { PodChange, PriorityFields } from './decision.ts';

/** The user who sent the request, as the API server authenticated it. */
export interface Requester {
  readonly name: string;
  readonly groups: readonly string[];
  /** The node of the pod that a service account token is bound to. */
  readonly nodeName?: string | undefined;
}

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The fields of an admission request, without its objects. */
export interface AdmissionRequest {
  /** New for every call, even a repeated one: it only matches an answer to a call. */
  readonly uid: string;
  readonly operation: Operation;
  readonly group: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty with generateName before the name is generated, and for the deletion of a collection. */
  readonly name: string;
  readonly requester: Requester;
  readonly isDryRun: boolean;
}

/** A pod to create, or the pod that a template describes. */
export interface PodRequest {
  readonly pod: Pod;
  readonly requester: Requester;
  /** `spec.serviceAccountName`, or `default` if it is not set. */
  readonly serviceAccountName: string;
  /** `spec.schedulerName`, or `default-scheduler` if it is not set. */
  readonly schedulerName: string;
  /**
   * Whether the user named the class or the API server filled in the global default: read from managedFields, so a
   * hint, not a proof. `unknown` is treated as `person`.
   */
  readonly classNamedBy: 'person' | 'default' | 'unknown';
  /** Kind of the controller that owns the pod, or will own the pods of a template; `undefined` without one. */
  readonly ownerKind: string | undefined;
  /** The rule that its annotation names as that which gave its class: a claim, for anyone can write it. */
  readonly recordedRule: string | undefined;
  /** Whether its annotation asks for spare room: a wish, which a policy may allow. */
  readonly asksSpareRoom: boolean;
  /** Why its annotations have no effect, as sentences. */
  readonly annotationProblems: readonly string[];
}

/** The pod with other priority fields; an empty class name means no class. */
export function withPriority(pod: Pod, { priorityClassName, priority, preemptionPolicy }: PriorityFields): Pod {
  const named = priorityClassName === '' ? undefined : priorityClassName;
  return { ...pod, spec: { ...pod.spec, priorityClassName: named, priority, preemptionPolicy } };
}

/** The pod as a mutation leaves it. */
export function asChanged(pod: Pod, change: PodChange | undefined): Pod {
  if (change === undefined) return pod;
  const named = withPriority(pod, change);
  return change.spare === undefined ? named : inSpareRoom(named, change.spare);
}

/** What the API server writes into a pod that names no scheduler. */
export const DEFAULT_SCHEDULER = 'default-scheduler';
