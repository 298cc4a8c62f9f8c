import type { Admitted } from '#shared/api/admitted.ts';
import { deletedAt, isDisrupted } from '#shared/domain/pod/pod-conditions.ts';
import { controllerOf, hasEnded, type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { type Steps, KeptOrder } from '#shared/domain/base/steps.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { AmountsByQueue } from '#shared/domain/queue/usage.ts';
import { foreignGates, isManaged, otherGates } from '#shared/kube/annotations/annotations.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { type ForgedMark, ForgedMarks, type IsGuarded, type OpenClaim } from './forged-marks.ts';
import { NamedGangs } from './gangs.ts';
import { firstEqual, PodAmounts, type TemplateOf, type WatchedPod } from './queue-charges.ts';
import { KeptPlaces } from './kept-places.ts';
import { LostPods } from './lost-pods.ts';
import { isWaiting, keepPod, type KeptPod, type QueuedPod } from './queued-pod.ts';

/** Pods with marks that are older than the guard. */
export interface JudgedClaims {
  /** Their marks name the queue in which they stand. */
  readonly own: readonly QueuedPod[];
  /** Their marks name another queue. */
  readonly others: readonly QueuedPod[];
}

/** A pod on a node that is not among those of queues. */
interface OutsidePod {
  readonly pod: Pod;
  readonly node: string;
}

/**
 * The pods that queues are about, by UID, kept current by the watch of the cluster view. A pod that this process has let
 * in counts as let in from the answer of the API server on, before the watch shows it.
 */
export class QueuedPods {
  readonly #pods = new Map<string, KeptPod>();
  readonly #open = new KeptOrder<KeptPod>(compareAges);
  readonly #outside = new Map<string, OutsidePod>();
  readonly #ending = new Map<string, Pod>();
  readonly #forged: ForgedMarks;
  readonly #letIn = new Map<string, Admitted>();
  /** What pods request that were let in and are on nodes, which are most pods, by the queue that they were let in to. */
  readonly placed = new AmountsByQueue();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #templateOf: TemplateOf;
  /** What owners have lost, for the order in which their pods go in. */
  readonly lost = new LostPods();
  /** Those that name a gang. */
  readonly gangs = new NamedGangs();
  /** What deleted pods leave to those that replace them. */
  readonly places = new KeptPlaces();
  readonly #amounts: PodAmounts;
  readonly #admitted = new Map<string, Admitted>();
  readonly #texts = new Map<string, string>();
  readonly #marked = new Map<string, QueuedPod>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'now'>, templateOf: TemplateOf = () => undefined, isGuarded?: IsGuarded) {
    this.#clock = clock;
    this.#forged = new ForgedMarks(isGuarded);
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

  /** All that are not among `placed`, in the order in which those that wait go in. */
  open(): Steps<readonly QueuedPod[]> {
    return this.#open.inOrder();
  }

  /** Pods on nodes that are not among those of queues. */
  outside(): Iterable<OutsidePod> {
    return this.#outside.values();
  }

  /** Those that went in against another pod. */
  marked(): Iterable<QueuedPod> {
    return this.#marked.values();
  }

  /** Those of queues that are being deleted. */
  ending(): Iterable<Pod> {
    return this.#ending.values();
  }

  /** Marks that the leader did not write, which it removes. */
  forged(): Iterable<ForgedMark> {
    return this.#forged.values();
  }

  /** What the mark of a pod says that a tenant may have written, as long as it counts for nothing. */
  claimOf(uid: string): OpenClaim | undefined {
    return this.#forged.claimOf(uid);
  }

  /** From now on the marks of `own` count, and those of `others` are to be removed. */
  settleClaims({ own, others }: JudgedClaims): void {
    for (const { uid } of own) {
      const [pod, mark] = [this.#pods.get(uid), this.#forged.acceptClaim(uid)];
      if (pod !== undefined && mark !== undefined)
        this.#put(pod.asLetIn(pod.isBound ? this.#sharedAdmitted(mark) : mark));
    }
    for (const { uid, namespace, name } of others)
      this.#forged.refuseClaim({ uid, namespace, name }, this.#clock.now());
    if (own.length > 0) this.#changes += 1;
  }

  /** Takes a pod in as the watch shows it. */
  observe({ pod, raw }: WatchedPod, { namespaces }: Pick<ClusterSnapshot, 'namespaces'>): void {
    const owner = controllerOf(pod)?.uid;
    const lostAt = owner === undefined ? undefined : this.#lostAt(pod, raw);
    if (owner !== undefined && lostAt !== undefined)
      this.lost.lose(owner, { uid: pod.uid, requests: this.amountsOf(pod) }, lostAt);
    if (hasEnded(pod)) {
      this.gone(pod.uid);
      this.gangs.noteEnd(pod);
      return;
    }
    const admitted = this.#forged.read(raw, { namespaces }, this.#clock.now());
    const read = this.#read(pod, raw, admitted);
    // Elsewhere any tenant may write the annotation.
    if (!isWaiting(read) && !isManaged(namespaces.get(pod.namespace))) {
      this.#leaveOutside(pod, read);
      return;
    }
    if (read.admitted !== undefined && read.otherGates === undefined) this.#letIn.delete(pod.uid);
    this.#outside.delete(pod.uid);
    this.#noteEnding(pod);
    this.#put(this.#asLetIn(read));
    this.#changes += 1;
  }

  /** A pod is gone or has ended. It may leave room for others also where it stood in no queue (S0-25). */
  gone(uid: string): void {
    const [pod, ending] = [this.#pods.get(uid), this.#ending.get(uid)];
    if (pod !== undefined && ending !== undefined) this.places.leave(ending, pod, this.#clock.now());
    this.#forged.gone(uid);
    this.gangs.gone(uid);
    this.#forget(uid);
    this.#changes += 1;
  }

  /** The API server has taken the gate off. */
  letIn(uid: string, admitted: Admitted): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.places.enter(pod.placeKey);
    this.#letIn.set(uid, admitted);
    this.#put(this.#asLetIn(pod));
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

  /**
   * When a pod was disrupted: the watch tells the time only of a deletion, and one that failed before is no news. Pods that
   * wait hold no share: their tenant could delete them so that the next ones pass all others.
   */
  #lostAt(pod: Pod, raw: KubeObject): Instant | undefined {
    if ((!isDisrupted(pod) && !isRetried(pod)) || otherGates(raw) !== undefined) return undefined;
    return deletedAt(pod) ?? this.#endedAt(pod);
  }

  #endedAt(pod: Pod): Instant | undefined {
    return hasEnded(pod) && this.#pods.has(pod.uid) ? this.#clock.now() : undefined;
  }

  #forget(uid: string): void {
    this.#letIn.delete(uid);
    this.#outside.delete(uid);
    this.#ending.delete(uid);
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
    this.#marked.delete(uid);
    this.gangs.remove(uid);
    this.#uncount(pod);
    this.#changes += 1;
  }

  #noteEnding(pod: Pod): void {
    if (pod.deletion === undefined) this.#ending.delete(pod.uid);
    else this.#ending.set(pod.uid, pod);
  }

  #leaveOutside(pod: Pod, { isBound }: KeptPod): void {
    this.#forget(pod.uid);
    if (isBound) this.#outside.set(pod.uid, { pod, node: pod.spec.nodeName ?? '' });
  }

  #put(pod: KeptPod): void {
    const before = this.#pods.get(pod.uid);
    if (before !== undefined) this.#uncount(before);
    this.#pods.set(pod.uid, pod);
    if (pod.admitted?.against === undefined) this.#marked.delete(pod.uid);
    else this.#marked.set(pod.uid, pod);
    this.gangs.put(pod);
    if (isPlaced(pod)) this.placed.add(pod.admitted.queue, pod.requests);
    else this.#open.add(pod);
  }

  #uncount(pod: KeptPod): void {
    if (isPlaced(pod)) this.placed.add(pod.admitted.queue, pod.requests, -1);
    else this.#open.remove(pod);
  }

  #asLetIn(pod: KeptPod): KeptPod {
    const admitted = this.#letIn.get(pod.uid);
    return admitted === undefined ? pod : pod.asLetIn(admitted);
  }

  #read(pod: Pod, raw: KubeObject, admitted: Admitted | undefined): KeptPod {
    const { creationTimestamp, resourceVersion } = raw.metadata;
    const gates = otherGates(raw);
    const hasNode = isBound(pod);
    const own = {
      createdAt: creationOf(creationTimestamp),
      requests: this.amountsOf(pod),
      priority: priorityOf(pod),
      otherGates: gates?.length === 0 ? NO_GATES : gates,
      foreignGates: gates === undefined ? foreignGates(raw) : NO_GATES,
      admitted: hasNode && admitted !== undefined ? this.#sharedAdmitted(admitted) : admitted,
      resourceVersion: gates === undefined ? undefined : resourceVersion,
    };
    return keepPod(pod, own, hasNode);
  }

  /** Pods of one owner that one decision has let in differ in some seconds at most, which count until a pod has a node. */
  #sharedAdmitted(admitted: Admitted): Admitted {
    const { queue, application, mayPreempt, mayBePreempted, decision, against = [], gang } = admitted;
    const key = JSON.stringify([queue, application, mayPreempt, mayBePreempted, decision, String([...against]), gang]);
    const known = this.#admitted.get(key);
    if (known !== undefined) return known;
    const texts = { queue: this.#textOf(queue), decision: this.#textOf(decision) };
    return firstEqual(this.#admitted, key, { ...admitted, ...texts });
  }

  /** One decision lets many pods in to one queue. */
  #textOf(text: string): string {
    return firstEqual(this.#texts, text, text);
  }
}

const NO_GATES: readonly string[] = [];

/** A Job creates another pod for one that failed, or was deleted. */
function isRetried(pod: Pod): boolean {
  return controllerOf(pod)?.kind === 'Job' && pod.status.phase !== 'Succeeded';
}

/** By priority, then age, as `compareWaiting` without what changes with time. */
function compareAges(a: KeptPod, b: KeptPod): number {
  return b.priority - a.priority || a.createdAt - b.createdAt || compareTexts(a.uid, b.uid);
}

function isPlaced(pod: KeptPod): pod is KeptPod & { readonly admitted: Admitted } {
  return pod.isBound && pod.admitted !== undefined && !isWaiting(pod);
}

function creationOf(text: string | undefined): Instant {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? 0 : at;
}
