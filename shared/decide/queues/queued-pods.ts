import type { Admitted } from '#shared/api/admitted.ts';
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
import { putBounded } from '#shared/domain/base/memoize.ts';
import { type ForgedMark, ForgedMarks } from './forged-marks.ts';
import { firstEqual, PodAmounts, type TemplateOf, type WatchedPod } from './queue-charges.ts';
import { isWaiting, keepPod, type KeptPod, type QueuedPod } from './queued-pod.ts';

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
  readonly #forged = new ForgedMarks();
  readonly #letIn = new Map<string, Admitted>();
  /** What pods request that were let in and are on nodes, which are most pods, by the queue that they were let in to. */
  readonly placed = new AmountsByQueue();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #templateOf: TemplateOf;
  /** What owners have lost, for the order in which their pods go in. */
  readonly lost = new LostPods();
  readonly #amounts: PodAmounts;
  readonly #admitted = new Map<string, Admitted>();
  readonly #texts = new Map<string, string>();
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

  /** All that are not among `placed`, in the order in which those that wait go in. */
  open(): Steps<readonly QueuedPod[]> {
    return this.#open.inOrder();
  }

  /** Pods on nodes that are not among those of queues. */
  outside(): Iterable<OutsidePod> {
    return this.#outside.values();
  }

  /** Those of queues that are being deleted. */
  ending(): Iterable<Pod> {
    return this.#ending.values();
  }

  /** Marks that the leader did not write, which it removes. */
  forged(): Iterable<ForgedMark> {
    return this.#forged.values();
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
    this.#forged.gone(uid);
    this.#forget(uid);
    this.#changes += 1;
  }

  /** The API server has taken the gate off. */
  letIn(uid: string, admitted: Admitted): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
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
    this.#outside.delete(uid);
    this.#ending.delete(uid);
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
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
    const { queue, application, mayPreempt, mayBePreempted, decision, against = 0 } = admitted;
    const key = JSON.stringify([queue, application, mayPreempt, mayBePreempted, decision, against]);
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

/** How long the replacement of a disrupted pod goes first. */
const FIRST_FOR_MS = 60_000;
/** creationTimestamp has whole seconds. */
const PRECISION_MS = 1_000;
const MAX_OWNERS = 10_000;

interface LostPod {
  readonly pod: string;
  readonly at: Instant;
}

/**
 * The pods that owners have lost a short time ago for another reason than reclaim: by a drain, a preemption, an eviction, a
 * lost node. So many of their new pods go in before others of the same priority (S3-45). Deleted pods are not among them.
 */
class LostPods {
  readonly #byOwner = new Map<string, readonly LostPod[]>();
  readonly #reclaimed = new Map<string, true>();

  /** The owner has lost a pod. */
  lose(owner: string, pod: string, at: Instant): void {
    const before = this.#byOwner.get(owner) ?? [];
    if (this.#reclaimed.has(pod) || before.some((each) => each.pod === pod)) return;
    const recent = before.filter((each) => at - each.at <= FIRST_FOR_MS);
    putBounded(this.#byOwner, MAX_OWNERS, [owner, [...recent, { pod, at }]]);
  }

  /** The pod made room for another queue: its replacement waits in its turn, or the two would go round in circles. */
  reclaimed(uid: string): void {
    putBounded(this.#reclaimed, MAX_OWNERS, [uid, true]);
    for (const [owner, losses] of this.#byOwner) {
      const others = losses.filter(({ pod }) => pod !== uid);
      if (others.length < losses.length) this.#byOwner.set(owner, others);
    }
  }

  /** Hands out, for one pass, who goes first: of the new pods of an owner as many as it has lost. */
  turns(now: Instant): (pod: Pick<QueuedPod, 'owner' | 'createdAt'>) => boolean {
    const used = new Map<string, number>();
    const isRecent = (losses: readonly LostPod[]): boolean => losses.some(({ at }) => now - at <= FIRST_FOR_MS);
    if (!Array.from(this.#byOwner.values()).some(isRecent)) return () => false;
    return ({ owner, createdAt }) => {
      if (owner === undefined) return false;
      const isReplaced = ({ at }: LostPod): boolean => now - at <= FIRST_FOR_MS && createdAt >= at - PRECISION_MS;
      const losses = this.#byOwner.get(owner)?.filter(isReplaced).length ?? 0;
      const taken = used.get(owner) ?? 0;
      if (taken >= losses) return false;
      used.set(owner, taken + 1);
      return true;
    };
  }
}
