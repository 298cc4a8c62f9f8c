import { type Admitted, decodeAdmitted } from '#shared/api/admitted.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { hasEnded, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { applicationOf, isManaged, isMarkedOriginator, otherGates } from '#shared/kube/annotations/queue-marks.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { LostPods } from './lost-pods.ts';
import { keptOnce, PodAmounts, type TemplateOf } from './pod-amounts.ts';

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

/**
 * The pods that queues are about, by UID, kept current by the watch of the cluster view. A pod that this process has let
 * in counts as let in from the answer of the API server on, before the watch shows it.
 */
export class QueuedPods {
  readonly #pods = new Map<string, KeptPod>();
  readonly #letIn = new Map<string, Admitted>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #templateOf: TemplateOf;
  /** What owners have lost, for the order in which their pods go in. */
  readonly lost = new LostPods();
  readonly #amounts: PodAmounts;
  readonly #admitted = new Map<string, Admitted>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'now'>, templateOf: TemplateOf = () => undefined) {
    this.#clock = clock;
    this.#templateOf = templateOf;
    this.#amounts = new PodAmounts(templateOf);
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
    return this.#amounts.of(pod);
  }

  /** How many seconds a pod may take to end; to make the spec of a pod only for this takes longer than all the rest. */
  graceSecondsOf(pod: Pod): number {
    const { spec } = this.#templateOf(pod) ?? pod;
    return spec.terminationGracePeriodSeconds ?? 0;
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

  #asLetIn(pod: KeptPod): KeptPod {
    const admitted = this.#letIn.get(pod.uid);
    return admitted === undefined ? pod : pod.asLetIn(admitted);
  }

  #read(pod: Pod, raw: KubeObject): KeptPod {
    const { annotations, creationTimestamp, resourceVersion } = raw.metadata;
    const isBound = (pod.spec.nodeName ?? '') !== '';
    const admitted = decodeAdmitted(annotations?.[ANNOTATION_ADMITTED]);
    const gates = otherGates(raw);
    return new KeptPod(pod, {
      createdAt: creationOf(creationTimestamp),
      requests: this.amountsOf(pod),
      priority: priorityOf(pod),
      isBound,
      otherGates: gates?.length === 0 ? NO_GATES : gates,
      admitted: isBound && admitted !== undefined ? this.#sharedAdmitted(admitted) : admitted,
      resourceVersion: gates === undefined ? undefined : resourceVersion,
    });
  }

  /** Pods of one owner that one decision has let in differ in some seconds at most, which count until a pod has a node. */
  #sharedAdmitted(admitted: Admitted): Admitted {
    const { queue, application, mayPreempt, mayBePreempted, decision } = admitted;
    const key = JSON.stringify([queue, application, mayPreempt, mayBePreempted, decision]);
    return keptOnce(this.#admitted, key, admitted);
  }
}

const NO_GATES: readonly string[] = [];

type OwnFacts = Pick<
  QueuedPod,
  'createdAt' | 'requests' | 'priority' | 'isBound' | 'otherGates' | 'admitted' | 'resourceVersion'
>;

/**
 * A pod that keeps only what the pod of the snapshot does not say already, or says slowly: with a field for everything,
 * 200,000 of them take more than twice the memory.
 */
class KeptPod implements QueuedPod {
  readonly requests: QueueAmounts;
  readonly priority: number;
  readonly isBound: boolean;
  readonly otherGates: QueuedPod['otherGates'];
  readonly admitted: Admitted | undefined;
  readonly resourceVersion: string | undefined;
  readonly #pod: Pod;
  /** Whole seconds, which V8 keeps in the object itself. */
  readonly #createdSeconds: number;

  constructor(pod: Pod, own: OwnFacts) {
    this.#pod = pod;
    this.#createdSeconds = own.createdAt / 1_000;
    this.requests = own.requests;
    this.priority = own.priority;
    this.isBound = own.isBound;
    this.otherGates = own.otherGates;
    this.admitted = own.admitted;
    this.resourceVersion = own.resourceVersion;
  }

  /** The pod, let in. */
  asLetIn(admitted: Admitted): KeptPod {
    const { createdAt, requests, priority, isBound, resourceVersion } = this;
    const own = { createdAt, requests, priority, isBound, resourceVersion };
    return new KeptPod(this.#pod, { ...own, admitted, otherGates: undefined });
  }

  get uid(): string {
    return this.#pod.uid;
  }

  get namespace(): string {
    return this.#pod.namespace;
  }

  get name(): string {
    return this.#pod.name;
  }

  get createdAt(): Instant {
    return Math.round(this.#createdSeconds * 1_000);
  }

  get label(): string {
    return this.#pod.labels.get(LABEL_QUEUE) ?? '';
  }

  get application(): string {
    return applicationOf(this.#pod);
  }

  get className(): string | undefined {
    return this.#pod.spec.priorityClassName;
  }

  get neverPreempts(): boolean {
    return this.#pod.spec.preemptionPolicy === 'Never';
  }

  get wishes(): ReadonlyMap<string, string> {
    return this.#pod.annotations;
  }

  get owner(): string | undefined {
    return controllerOf(this.#pod)?.uid;
  }

  get isMarkedOriginator(): boolean {
    return isMarkedOriginator(this.#pod);
  }

  get unplaced(): Pod | undefined {
    return this.isBound ? undefined : this.#pod;
  }
}

/** Whether our gate holds the pod back. */
export function isWaiting(pod: QueuedPod): pod is QueuedPod & { readonly otherGates: readonly string[] } {
  return pod.otherGates !== undefined;
}

function creationOf(text: string | undefined): Instant {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? 0 : at;
}
