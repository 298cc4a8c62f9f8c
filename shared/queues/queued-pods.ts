import { type Admitted, decodeAdmitted } from '#shared/api/admitted.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { hasEnded, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { applicationOf, isManaged, isMarkedOriginator, otherGates } from '#shared/kube/annotations/queue-marks.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { LostPods } from './lost-pods.ts';

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
  /** UID of its controller. */
  readonly owner: string | undefined;
  /** It says of itself that it manages its application. */
  readonly isMarkedOriginator: boolean;
  /** The whole pod, while it has no node. */
  readonly unplaced: Pod | undefined;
}

/** A pod as it was decoded and as it was read. */
interface WatchedPod {
  readonly pod: Pod;
  readonly raw: KubeObject;
}

/** What a pod has in common with others, which request the same. */
interface TemplateOf {
  (pod: Pod): Pick<Pod, 'spec'> | undefined;
}

/** Different requests in a cluster are fewer. */
const MAX_KEPT = 2_000;

/**
 * The pods that queues are about, by UID, kept current by the watch of the cluster view. A pod that this process has let
 * in counts as let in from the answer of the API server on, before the watch shows it.
 */
export class QueuedPods {
  readonly #pods = new Map<string, QueuedPod>();
  readonly #letIn = new Map<string, Admitted>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #templateOf: TemplateOf;
  /** What owners have lost, for the order in which their pods go in. */
  readonly lost = new LostPods();
  readonly #amounts = new WeakMap<object, QueueAmounts>();
  readonly #kept = new Map<string, QueueAmounts>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'now'>, templateOf: TemplateOf = () => undefined) {
    this.#clock = clock;
    this.#templateOf = templateOf;
  }

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
  observe({ pod, raw }: WatchedPod, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>): void {
    const owner = controllerOf(pod)?.uid;
    const lostAt = owner === undefined ? undefined : this.#lostAt(pod);
    if (owner !== undefined && lostAt !== undefined) this.lost.lose(owner, pod.uid, lostAt);
    if (hasEnded(pod)) {
      this.gone(pod.uid);
      return;
    }
    const read = this.#read(pod, raw, owner);
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

  /** The spec, without the node: a pod of a template makes one of its own each time that it is asked. */
  specOf(pod: Pod): Pod['spec'] {
    return this.#templateOf(pod)?.spec ?? pod.spec;
  }

  /** What a pod requests; pods of one template share it. */
  amountsOf(pod: Pod): QueueAmounts {
    const template = this.#templateOf(pod);
    if (template === undefined) return requestsOf(pod);
    const known = this.#amounts.get(template);
    if (known !== undefined) return known;
    const amounts = this.#keptOnce(requestsOf(pod));
    this.#amounts.set(template, amounts);
    return amounts;
  }

  /** Pods of different owners often request the same, and what is one object is counted and judged once. */
  #keptOnce(amounts: QueueAmounts): QueueAmounts {
    const key = Array.from(amounts, ([type, amount]) => `${type}=${amount}`).join();
    const known = this.#kept.get(key);
    if (known === undefined) putBounded(this.#kept, MAX_KEPT, [key, amounts]);
    return known ?? amounts;
  }

  /** When a pod was disrupted: the watch tells the time only of a deletion, and one that failed before is no news. */
  #lostAt(pod: Pod): Instant | undefined {
    if (!pod.status.conditions.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True'))
      return undefined;
    const { deletion } = pod;
    if (deletion !== undefined) return deletion.at - (deletion.gracePeriodSeconds ?? 0) * 1_000;
    return hasEnded(pod) && this.#pods.has(pod.uid) ? this.#clock.now() : undefined;
  }

  #forget(uid: string): void {
    this.#letIn.delete(uid);
    if (this.#pods.delete(uid)) this.#changes += 1;
  }

  #asLetIn(pod: QueuedPod): QueuedPod {
    const admitted = this.#letIn.get(pod.uid);
    return admitted === undefined ? pod : { ...pod, admitted, otherGates: undefined };
  }

  #read(pod: Pod, raw: KubeObject, owner: string | undefined): QueuedPod {
    const { namespace, name, uid } = pod;
    const { annotations, creationTimestamp, resourceVersion } = raw.metadata;
    const isBound = (pod.spec.nodeName ?? '') !== '';
    return {
      ...{ uid, namespace, name, resourceVersion, owner },
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
