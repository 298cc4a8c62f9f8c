import { type Because, reason } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { hardConstraints } from '#shared/domain/placement/filters/pod-topology-spread.ts';
import { fitCheck } from '#shared/domain/queue/make-room.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { QueuedPod } from './queued-pod.ts';

/*
 * "Let in" is a promise with a deadline. A pod that was let in and gets no node gives its share back, and no longer
 * counts for its queue until it gets one. Its gate stays off, because Kubernetes adds no gates, and an autoscaler has to
 * see it. As soon as some node could hold it, it stands in its queue again like a pod that waits.
 */

/** How long a pod that was let in counts for its queue without a node. */
export const PLACED_WITHIN_MS = 300_000;

/** A pod that gave its share back. */
export interface ReturnedShare {
  readonly pod: QueuedPod;
  readonly queue: string;
  readonly because: Because;
}

/** What a pod that was let in and has no node counts as. */
export type Standing =
  /** It counts for its queue. */
  | { readonly kind: 'OnItsWay' }
  /** A node could hold it now: it stands in its queue like a pod that waits. */
  | { readonly kind: 'Again' }
  /** `isLatent`: what keeps it from a node may end at any time, by what its tenant does. */
  | { readonly kind: 'Returned'; readonly because: Because; readonly isLatent: boolean };

interface Waited {
  readonly minutes: number;
}

const NO_NODE = reason<Waited>(
  'NoNodeFound',
  ({ minutes }) =>
    `was let in and has found no node for ${minutes} min: its share of the queue is free for others until a node can hold it`,
);
const NOT_PLACED = reason<Waited>(
  'NotPlaced',
  ({ minutes }) =>
    `was let in and has not been placed for ${minutes} min, although a node seems to have room: its share of the queue is free for others`,
);
const OTHER_GATE = reason<Waited & { readonly gates: string }>(
  'OtherGate',
  ({ minutes, gates }) =>
    `was let in and has waited for scheduling gate ${gates} for ${minutes} min: its share of the queue is free for others`,
);
const DELETED = reason<object>(
  'BeingDeleted',
  () => 'is being deleted and gets no node: its share of the queue is free',
);

const ON_ITS_WAY: Standing = { kind: 'OnItsWay' };
const AGAIN: Standing = { kind: 'Again' };

/** Until when a pod may count again. */
interface Trial {
  readonly fits: boolean;
  /** When some node began to fit. */
  readonly since: Instant;
  readonly checkedAt: Instant;
}

const CHECKED_FOR_MS = 10_000;
const MAX_REMEMBERED = 10_000;
/** Trials of nodes take some milliseconds for each pod of a large cluster; the others follow in the next passes. */
const CHECKS_PER_PASS = 10;

export interface UnplacedPodsOptions {
  readonly checksPerPass?: number;
  /** How long a pod counts without a node. */
  readonly withinMs?: number;
}

/** Judges pods that were let in and have no node. It remembers since when a node could hold each of them. */
export class UnplacedPods {
  readonly #trials = new Map<string, Trial>();
  readonly #checksPerPass: number;
  readonly #withinMs: number;
  #checksLeft = 0;

  constructor({ checksPerPass = CHECKS_PER_PASS, withinMs = PLACED_WITHIN_MS }: UnplacedPodsOptions = {}) {
    this.#checksPerPass = checksPerPass;
    this.#withinMs = withinMs;
  }

  /** The standing of each pod in one pass. `isRoomMade` says whether others are making room for a pod. */
  inPass(
    snapshot: Pick<ClusterSnapshot, 'nodes'>,
    now: Instant,
    isRoomMade: (uid: string) => boolean = () => false,
  ): (pod: QueuedPod) => Standing {
    this.#checksLeft = this.#checksPerPass;
    return (pod) => {
      const standing = this.#standingOf(pod, snapshot as ClusterSnapshot, now);
      // Its share must not go to others while pods are evicted for it.
      return standing.kind !== 'OnItsWay' && isRoomMade(pod.uid) ? ON_ITS_WAY : standing;
    };
  }

  #standingOf(queued: QueuedPod, snapshot: ClusterSnapshot, now: Instant): Standing {
    const { unplaced: pod, foreignGates } = queued;
    if (pod === undefined) return ON_ITS_WAY;
    if (pod.deletion !== undefined) return { kind: 'Returned', because: DELETED({}), isLatent: false };
    const waitedMs = now - (queued.admitted?.at ?? queued.createdAt);
    if (waitedMs < this.#withinMs) return ON_ITS_WAY;
    const minutes = Math.floor(waitedMs / 60_000);
    if (foreignGates.length > 0) {
      const facts = { minutes, gates: foreignGates.join(', ') };
      return { kind: 'Returned', because: OTHER_GATE(facts, facts), isLatent: true };
    }
    const trial = this.#trialOf(queued.uid, pod, snapshot, now);
    if (!trial.fits)
      return { kind: 'Returned', because: NO_NODE({ minutes }, { minutes }), isLatent: dependsOnPods(pod) };
    if (now - trial.since < this.#withinMs) return AGAIN;
    return { kind: 'Returned', because: NOT_PLACED({ minutes }, { minutes }), isLatent: true };
  }

  #trialOf(uid: string, pod: Pod, snapshot: ClusterSnapshot, now: Instant): Trial {
    const known = this.#trials.get(uid);
    const isCurrent = known !== undefined && now - known.checkedAt < CHECKED_FOR_MS;
    if (isCurrent || (this.#checksLeft <= 0 && known !== undefined)) return known;
    if (this.#checksLeft <= 0) return { fits: false, since: now, checkedAt: now };
    this.#checksLeft -= 1;
    const fits = hasPlace(pod, snapshot);
    const trial = { fits, since: known?.fits === true && fits ? known.since : now, checkedAt: now };
    putBounded(this.#trials, MAX_REMEMBERED, [uid, trial]);
    return trial;
  }
}

/** Whether nodes may fit once other pods come, which may be those of its tenant. */
function dependsOnPods({ spec: { scheduling } }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = scheduling;
  return [podAffinity, podAntiAffinity, hardConstraints(scheduling)].some((rules) => rules.length > 0);
}

/** Whether a node has room for the pod now, or is being set aside for it. */
function hasPlace(pod: Pod, snapshot: ClusterSnapshot): boolean {
  if (snapshot.nodes.has(pod.status.nominatedNodeName ?? '')) return true;
  const fits = fitCheck(snapshot, pod);
  for (const name of snapshot.nodes.keys()) if (fits(name, [])) return true;
  return false;
}

/** Whether kube-scheduler has a node for the pod, or has not judged it yet. */
export function isOnItsWay({ status }: Pick<Pod, 'status'>): boolean {
  if ((status.nominatedNodeName ?? '') !== '') return true;
  return !status.conditions.some(({ type, status: is, reason: why }) => {
    return type === 'PodScheduled' && is === 'False' && why === 'Unschedulable';
  });
}
