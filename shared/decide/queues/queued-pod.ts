import type { Admitted } from '#shared/api/admitted.ts';
import type { GangWish } from '#shared/domain/gang/gang.ts';
import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { CONDITION_WAITS_IN_QUEUE, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { isDeletedByOwner, placeKeyOf, type Rollout, rolloutOf } from './rollout.ts';
import { applicationOf, isMarkedOriginator } from '#shared/kube/annotations/annotations.ts';
import { gangRunOf, gangWishOf } from '#shared/kube/annotations/gangs.ts';

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
  /** The gates of others that are left where ours is off. */
  readonly foreignGates: readonly string[];
  readonly admitted: Admitted | undefined;
  readonly isBound: boolean;
  /** UID of its controller. */
  readonly owner: string | undefined;
  /** The gang that it names. */
  readonly gang: GangWish | undefined;
  /** What its controllers run as one. */
  readonly gangRun: string | undefined;
  readonly deletion: Pod['deletion'];
  /** The rollout that it is of. */
  readonly rollout: Rollout | undefined;
  /** By what the share of a pod is kept for the one that replaces it. */
  readonly placeKey: string | undefined;
  /** It is being deleted, and not by an eviction. */
  readonly isDeletedByOwner: boolean;
  /** It says of itself that it manages its application. */
  readonly isMarkedOriginator: boolean;
  /** The whole pod, while it has no node. */
  readonly unplaced: Pod | undefined;
  /** Whether its status says that it waits in a queue. */
  readonly saysThatItWaits: boolean;
  /** As one that waits in a queue; the same object each time, so that passes need not make it again. */
  asWaiting: (queue: string) => WaitingPod;
}

type OwnFacts = Pick<
  QueuedPod,
  'createdAt' | 'requests' | 'priority' | 'otherGates' | 'foreignGates' | 'admitted' | 'resourceVersion'
>;

const NO_GATES: readonly string[] = [];

/**
 * A pod on a node, which most pods are. It keeps only what the pod of the snapshot does not say already, or says slowly:
 * with a field for everything, 200,000 of them take more than twice the memory.
 */
export class KeptPod implements QueuedPod {
  readonly requests: QueueAmounts;
  readonly priority: number;
  readonly admitted: Admitted | undefined;
  readonly #pod: Pod;
  /** Whole seconds, which V8 keeps in the object itself. */
  readonly #createdSeconds: number;

  constructor(pod: Pod, own: OwnFacts) {
    this.#pod = pod;
    this.#createdSeconds = own.createdAt / 1_000;
    this.requests = own.requests;
    this.priority = own.priority;
    this.admitted = own.admitted;
  }

  /** The pod, let in. */
  asLetIn(admitted: Admitted): KeptPod {
    const { createdAt, requests, priority, resourceVersion, otherGates } = this;
    const foreignGates = otherGates ?? this.foreignGates;
    const own = { createdAt, requests, priority, resourceVersion, admitted, foreignGates, otherGates: undefined };
    return keepPod(this.#pod, own, this.isBound);
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

  get gang(): GangWish | undefined {
    return gangWishOf(this.#pod);
  }

  get gangRun(): string | undefined {
    return gangRunOf(this.#pod);
  }

  get deletion(): Pod['deletion'] {
    return this.#pod.deletion;
  }

  get rollout(): Rollout | undefined {
    return rolloutOf(this.#pod);
  }

  get placeKey(): string | undefined {
    return placeKeyOf(this.#pod);
  }

  get isDeletedByOwner(): boolean {
    return isDeletedByOwner(this.#pod);
  }

  get isMarkedOriginator(): boolean {
    return isMarkedOriginator(this.#pod);
  }

  get isBound(): boolean {
    return true;
  }

  get unplaced(): Pod | undefined {
    return this.isBound ? undefined : this.#pod;
  }

  get saysThatItWaits(): boolean {
    return this.#pod.status.conditions.some(({ type }) => type === CONDITION_WAITS_IN_QUEUE);
  }

  get resourceVersion(): string | undefined {
    return undefined;
  }

  get otherGates(): readonly string[] | undefined {
    return undefined;
  }

  get foreignGates(): readonly string[] {
    return NO_GATES;
  }

  asWaiting(queue: string): WaitingPod {
    return waitingPod(this, queue);
  }
}

/** A pod that waits for its queue or for a node. */
class UnplacedPod extends KeptPod {
  readonly #otherGates: QueuedPod['otherGates'];
  readonly #foreignGates: readonly string[];
  readonly #resourceVersion: string | undefined;
  #waiting: WaitingPod | undefined;
  /** `false` until it is asked for. */
  #rollout: Rollout | undefined | false = false;
  #placeKey: string | undefined | false = false;

  constructor(pod: Pod, own: OwnFacts) {
    super(pod, own);
    this.#otherGates = own.otherGates;
    this.#foreignGates = own.foreignGates;
    this.#resourceVersion = own.resourceVersion;
  }

  override get isBound(): boolean {
    return false;
  }

  override get resourceVersion(): string | undefined {
    return this.#resourceVersion;
  }

  override get otherGates(): QueuedPod['otherGates'] {
    return this.#otherGates;
  }

  override get foreignGates(): readonly string[] {
    return this.#foreignGates;
  }

  /** Asked for in each pass. */
  override get rollout(): Rollout | undefined {
    if (this.#rollout === false) this.#rollout = super.rollout;
    return this.#rollout;
  }

  /** As `rollout`. */
  override get placeKey(): string | undefined {
    if (this.#placeKey === false) this.#placeKey = super.placeKey;
    return this.#placeKey;
  }

  override asWaiting(queue: string): WaitingPod {
    if (this.#waiting?.queue !== queue) this.#waiting = super.asWaiting(queue);
    return this.#waiting;
  }
}

/** The pod, in as little memory as its state allows. */
export function keepPod(pod: Pod, own: OwnFacts, isBound: boolean): KeptPod {
  return isBound ? new KeptPod(pod, own) : new UnplacedPod(pod, own);
}

/** Kubernetes creates no pod that its quotas have not counted (S2-37). DaemonSets' pods have no gate. */
function waitingPod(pod: QueuedPod, queue: string): WaitingPod {
  const { uid, namespace, name, application, priority, requests, createdAt, neverPreempts } = pod;
  return {
    uid,
    application,
    priority,
    requests,
    queue,
    name: `${namespace}/${name}`,
    waitingSince: createdAt,
    mayPreempt: !neverPreempts,
    isCharged: true,
    isOriginator: false,
    isDaemonSet: false,
  };
}

/** Whether our gate holds the pod back. */
export function isWaiting(pod: QueuedPod): pod is QueuedPod & { readonly otherGates: readonly string[] } {
  return pod.otherGates !== undefined;
}
