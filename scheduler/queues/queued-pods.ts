import { type Admitted, decodeAdmitted } from '#shared/api/admitted.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { hasEnded, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { applicationOf, isManaged, isMarkedOriginator, otherGates } from '#shared/kube/annotations/queue-marks.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { CompactPod, type PodTemplate } from '#scheduler/compact-pod.ts';
import type { SeenPod } from '#scheduler/preemptions/preemption-loops.ts';

/** A pod of a managed namespace, or one that has the gate. */
export interface QueuedPod {
  readonly uid: string;
  readonly priority: number;
  readonly createdAt: Instant;
  readonly requests: QueueAmounts;
  readonly namespace: string;
  readonly name: string;
  /** The queue that its label names; empty where it has none. */
  readonly label: string;
  readonly application: string;
  readonly className: string | undefined;
  readonly neverPreempts: boolean;
  /** The annotations by which it may ask to be spared. */
  readonly wishes: ReadonlyMap<string, string>;
  readonly resourceVersion: string | undefined;
  /** The names of its other scheduling gates; `undefined` where ours is off. */
  readonly otherGates: readonly string[] | undefined;
  readonly admitted: Admitted | undefined;
  readonly isBound: boolean;
  /** It says of itself that it manages its application. */
  readonly isMarkedOriginator: boolean;
  /** The whole pod, while it has no node. */
  readonly unplaced: Pod | undefined;
}

/**
 * The pods that queues are about, by UID, kept current by the watch of the cluster view. A pod that this process has let
 * in counts as let in from the answer of the API server on, before the watch shows it.
 */
export class QueuedPods {
  readonly #pods = new Map<string, QueuedPod>();
  readonly #letIn = new Map<string, Admitted>();
  readonly #amounts = new WeakMap<PodTemplate, QueueAmounts>();
  #changes = 0;

  /** Rises with every change. */
  get changes(): number {
    return this.#changes;
  }

  get(uid: string): QueuedPod | undefined {
    return this.#pods.get(uid);
  }

  values(): Iterable<QueuedPod> {
    return this.#pods.values();
  }

  /** Takes a pod in as the watch shows it. */
  observe({ pod, raw }: Pick<SeenPod, 'pod' | 'raw'>, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>): void {
    if (hasEnded(pod)) {
      this.gone(pod.uid);
      return;
    }
    const read = this.#read(pod, raw);
    // Elsewhere any tenant may write the annotation.
    if (!isWaiting(read) && !isManaged(namespaces.get(pod.namespace))) {
      this.#forget(pod.uid);
      return;
    }
    if (read.admitted !== undefined && read.otherGates === undefined) this.#letIn.delete(pod.uid);
    this.#pods.set(pod.uid, this.#asLetIn(read));
    this.#changes += 1;
  }

  /** A pod is gone or has ended. It may leave room for others also where it stood in no queue (S0-25). */
  gone(uid: string): void {
    this.#forget(uid);
    this.#changes += 1;
  }

  /** The API server has taken the gate off. */
  letIn(uid: string, admitted: Admitted): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#letIn.set(uid, admitted);
    this.#pods.set(uid, this.#asLetIn(pod));
  }

  /** What a pod requests; pods of one template share it. */
  amountsOf(pod: Pod): QueueAmounts {
    if (!(pod instanceof CompactPod)) return requestsOf(pod);
    const known = this.#amounts.get(pod.template);
    if (known !== undefined) return known;
    const amounts = requestsOf(pod);
    this.#amounts.set(pod.template, amounts);
    return amounts;
  }

  #forget(uid: string): void {
    this.#letIn.delete(uid);
    if (this.#pods.delete(uid)) this.#changes += 1;
  }

  #asLetIn(pod: QueuedPod): QueuedPod {
    const admitted = this.#letIn.get(pod.uid);
    return admitted === undefined ? pod : { ...pod, admitted, otherGates: undefined };
  }

  #read(pod: Pod, raw: KubeObject): QueuedPod {
    const { namespace, name, uid } = pod;
    const { annotations, creationTimestamp, resourceVersion } = raw.metadata;
    const isBound = (pod.spec.nodeName ?? '') !== '';
    return {
      ...{ uid, namespace, name, resourceVersion },
      label: pod.labels.get(LABEL_QUEUE) ?? '',
      application: applicationOf(pod),
      className: pod.spec.priorityClassName,
      neverPreempts: pod.spec.preemptionPolicy === 'Never',
      wishes: pod.annotations,
      priority: priorityOf(pod),
      createdAt: creationOf(creationTimestamp),
      requests: this.amountsOf(pod),
      otherGates: otherGates(raw),
      admitted: decodeAdmitted(annotations?.[ANNOTATION_ADMITTED]),
      ...{ isBound, isMarkedOriginator: isMarkedOriginator(pod), unplaced: isBound ? undefined : pod },
    };
  }
}

/** Whether our gate holds the pod back. */
export function isWaiting(pod: QueuedPod): pod is QueuedPod & { readonly otherGates: readonly string[] } {
  return pod.otherGates !== undefined;
}

function requestsOf(pod: Pod): QueueAmounts {
  return queueAmounts(podRequests(pod, SCHEDULER_VIEW));
}

function creationOf(text: string | undefined): Instant {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? 0 : at;
}
