import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { ChildOf } from '#shared/domain/queue/child-queues.ts';
import {
  type PassSnapshot,
  preempt,
  type Preempted,
  preprocess,
  type Preprocessed,
} from '#shared/domain/queue/pass-stages.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { withUnreported } from '#shared/domain/queue/queue-settings.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { podCounter } from './counted-pods.ts';
import type { QueueGang } from './gangs.ts';
import { type NodeRoom, readNodeRoom } from './node-room.ts';
import type { ReturnedShare } from './unplaced-pods.ts';
import type { QueuedPod } from './queued-pod.ts';
import { decideRollouts, type RolloutDecision } from './rollouts.ts';
import { asMembers } from './wait-together.ts';
import type { JudgedClaims } from './queued-pods.ts';
import { type HomelessPod, type QueuePassInput, type SortedPods, sortPods } from './sort-pods.ts';

/** What one look at the cluster comes to: that of the two stages, and what concerns no share. */
export interface QueuePlan
  extends
    Pick<Preprocessed, 'shares' | 'used' | 'overused'>,
    Pick<Preempted, 'floors' | 'question' | 'decision' | 'seeking' | 'crowded' | 'allocation'> {
  readonly directory: QueueDirectory;
  readonly total: QueueAmounts;
  /** What guarantees are compared with: what is declared, else what nodes have that take pods. */
  readonly available: QueueAmounts;
  /** What nodes report and is not believed yet. */
  readonly doubts: readonly Because[];
  /** What pods on nodes count for, by UID, where it is less than they request. */
  readonly capped: NodeRoom['capped'];
  /** What the queue root declares. */
  readonly declared: QueueAmounts | undefined;
  /** The pods that go in now, in order. */
  readonly letIn: readonly WaitingPod[];
  /** The gangs that go in now, each as one with its pods: they are let in when each has a node. */
  readonly starting: readonly WaitingPod[];
  /** What keeps new pods of rollouts that stay, with the way out, by UID. */
  readonly heldRollouts: RolloutDecision['kept'];
  /** The pods that stay, those for which room is sought left aside. */
  readonly held: readonly WaitingPod[];
  /** Pods that were let in and have no node. */
  readonly unplaced: readonly QueuedPod[];
  /** Those of them, of the waiting ones and of those on nodes that do not count for their queue, and why. */
  readonly returned: readonly ReturnedShare[];
  /** Gated pods of namespaces that are not managed (any longer): nothing holds them back. */
  readonly released: readonly QueuedPod[];
  /** Waiting pods without a queue, and why. */
  readonly homeless: readonly HomelessPod[];
  /** Waiting pods that name a gang and belong to none, and why. */
  readonly outOfGang: readonly HomelessPod[];
  readonly gangs: readonly QueueGang[];
  /** Queues that are to be made from a template, by name. */
  readonly wantedQueues: ReadonlyMap<string, ChildOf>;
  readonly claims: JudgedClaims;
  /** Names of the queues in which pods stand, waiting or let in. */
  readonly occupied: ReadonlySet<string>;
}

const NO_GANGS: readonly WaitingPod[] = [];

/** Decides in two stages which pods go in now, and for which of them others have to make room. It changes nothing. */
export function* planPass(input: QueuePassInput): Steps<QueuePlan> {
  const { directory, capacity: declared } = input;
  const open = yield* input.pods.open();
  const counted = podCounter(directory.tree, declared);
  const { believed, now } = input;
  const believedOf = believed && ((node: Node) => believed.amountsOf(node, now));
  const room = yield* readNodeRoom({ ...input, open, counted, believed: believedOf });
  believed?.forgetOthers(now);
  const sorted = yield* sortPods(input, open, room);
  const snapshot = passSnapshot(input, sorted, room);
  const preprocessed = yield* preprocess(snapshot);
  const together = yield* preempt(snapshot, preprocessed);
  const { atOnce: letIn, ...preempted } = sorted.hasGangs ? asMembers(together) : { ...together, starting: NO_GANGS };
  const { released, homeless, unplaced, returned, wantedQueues, capped, claims, outOfGang, gangs } = sorted;
  const { question, decision } = preempted;
  const isReturned = returnedAmong(returned);
  const rollouts = yield* decideRollouts({ ...input, question, decision, isReturned });
  return {
    directory,
    declared,
    total: snapshot.total,
    released,
    homeless,
    outOfGang,
    gangs,
    unplaced,
    returned,
    wantedQueues,
    capped,
    claims,
    available: declared ?? room.possible,
    doubts: believed?.doubts() ?? [],
    shares: preprocessed.shares,
    used: preprocessed.used,
    overused: preprocessed.overused,
    ...preempted,
    letIn: [...sorted.replacing, ...letIn, ...rollouts.letIn],
    held: without(decision.held, rollouts.letIn),
    heldRollouts: rollouts.kept,
    occupied: new Set(snapshot.requested.keys()),
  };
}

function without(held: readonly WaitingPod[], entering: readonly WaitingPod[]): readonly WaitingPod[] {
  if (entering.length === 0) return held;
  const uids = new Set(entering.map(({ uid }) => uid));
  return held.filter(({ uid }) => !uids.has(uid));
}

function returnedAmong(returned: readonly ReturnedShare[]): (uid: string) => boolean {
  const uids = new Set(returned.map(({ pod }) => pod.uid));
  return (uid) => uids.has(uid);
}

function passSnapshot(input: QueuePassInput, sorted: SortedPods, room: NodeRoom): PassSnapshot {
  const { directory, reclaimBy, isReclaiming, capacity } = input;
  const { admitted, used, latent, requested, waiting } = sorted;
  const reported = capacity === undefined ? room.reported : new Set(capacity.keys());
  const total = withUnreported(directory.tree, capacity ?? room.total, reported);
  const beyond = capacity === undefined ? room.beyond : NO_QUEUE_AMOUNTS;
  const sums = { admitted: admitted.sums(), used: used.sums(), latent: latent.sums(), requested: requested.sums() };
  return { tree: directory.tree, total, beyond, ...sums, waiting, reclaimBy, isReclaiming };
}
