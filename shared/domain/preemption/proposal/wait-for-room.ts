import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { type EndingPod, graceOf, MAX_WAIT_MS, type LeavingPods } from '#shared/domain/placement/trial/leaving-pods.ts';
import { chooseNode, type NodeCandidate, candidateOf } from '#shared/domain/placement/victims/choose-node.ts';
import { type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type PrefilterState, splitByBudgets } from '#shared/domain/placement/trial/prefilter-state.ts';
import { openTrial, putBack, refusalIn, takeOff } from '#shared/domain/placement/trial/trial.ts';
import { lowerPods } from '#shared/domain/placement/victims/victims-on-node.ts';
import {
  type NodeReview,
  type NodeVerdict,
  type ProposedVictims,
  type ProposalReview,
  type SoonRoom,
  removed,
} from './proposal.ts';

const NODES_PER_STEP = 16;

/**
 * The room that terminating pods free, if it is enough. Terminating pods of lower priority are named as the victims:
 * kube-scheduler deletes no pod twice, but it nominates the node, so that pods of lower priority cannot take the room
 * as it becomes free. `undefined` if there is none to name: without a nomination the room could be lost.
 * `pkg/scheduler/framework/preemption/executor.go` prepareCandidateAsync.
 */
export function soonRoom(
  review: ProposalReview,
  entry: NodeEntry,
  soon: readonly EndingPod[],
  proposed: ProposedVictims,
): SoonRoom | undefined {
  const { pods } = sheetOf(entry);
  const { node, uids: proposedUids } = proposed;
  const uids = soon.flatMap(({ index }) => {
    const placed = pods[index] as PlacedPod;
    return proposedUids.includes(placed.pod.uid) || isNameable(placed, review) ? [placed.pod.uid] : [];
  });
  const leaving = soon.map(({ index }) => index);
  if (uids.length === 0 || !fitsWithout(review.state, entry, leaving)) return undefined;
  return {
    endsAt: Math.max(...soon.map(({ endsAt }) => endsAt)),
    failsAfter: Math.max(...soon.map(({ hangsAfter }) => hangsAfter)),
    victims: { node, uids, budgetViolations: 0 },
  };
}

/** Protected pods are not named: kube-scheduler may not know yet that they are terminating. */
function isNameable({ pod, priority }: PlacedPod, { state, rules }: ProposalReview): boolean {
  return pod.deletion !== undefined && priority < state.priority && rules.protection(pod, state.pod) === undefined;
}

/** The pods that end before a preemption of these victims would be complete. */
export function endingBefore(
  ending: readonly EndingPod[],
  victims: readonly PlacedPod[],
  now: Instant,
): readonly EndingPod[] {
  const overAt = now + longestGrace(victims, now);
  return ending.filter(({ endsAt }) => endsAt <= overAt);
}

function longestGrace(victims: readonly PlacedPod[], now: Instant): number {
  return Math.max(
    ...victims.map(({ pod }) => (pod.deletion === undefined ? graceOf(pod) : Math.max(0, pod.deletion.at - now))),
  );
}

/** Whether the pod may be made to wait on the node: once, and for no longer than a minute. */
export function mayWait({ state, now, waitedFor }: ProposalReview, node: string): boolean {
  return waitedFor(state.pod, node, now) <= MAX_WAIT_MS;
}

/**
 * Keeps only the nodes where the pod gets room without a preemption, if there are any and the room is free no later
 * than with the preemption that kube-scheduler would choose. The other nodes are removed: kube-scheduler would compare
 * the named pods as if they were victims, although this room costs nothing. `undefined` if a preemption is due.
 */
export function* awaitRoom(
  review: ProposalReview,
  reviews: readonly NodeReview[],
): Steps<readonly NodeVerdict[] | undefined> {
  const rooms = reviews.flatMap(({ room }) => room ?? []);
  const overAt = review.now + (yield* fastestChoice(review, reviews));
  const timely = rooms.filter(({ endsAt, victims }) => endsAt <= overAt && mayWait(review, victims.node));
  const [first] = timely;
  if (first === undefined) return undefined;
  const byNode = new Map(timely.map((room) => [room.victims.node, room]));
  const verdictOn = ({ proposed }: NodeReview): NodeVerdict => {
    const room = byNode.get(proposed.node);
    const elsewhere = soonElsewhere(first.victims.node);
    return room === undefined ? removed(proposed.node, elsewhere) : waiting(room, proposed);
  };
  return yield* collectInSteps(reviews, verdictOn, NODES_PER_STEP);
}

function waiting({ victims, failsAfter }: SoonRoom, proposed: ProposedVictims): NodeVerdict {
  const { node, uids } = victims;
  const isProposed = uids.length === proposed.uids.length && uids.every((uid) => proposed.uids.includes(uid));
  if (isProposed) return { kind: 'kept', victims: proposed };
  return { kind: 'changed', victims, because: roomSoon(node), waitsUntil: failsAfter };
}

/** How long the preemption that kube-scheduler would choose takes; the fastest of several equal ones. 0 if unknown. */
function* fastestChoice({ state: { snapshot }, now }: ProposalReview, reviews: readonly NodeReview[]): Steps<number> {
  const candidates: NodeCandidate[] = [];
  for (const [at, { verdict }] of reviews.entries()) {
    if (at % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    if (verdict.kind === 'removed') continue;
    const { node, uids, budgetViolations } = verdict.victims;
    const victims = uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []);
    if (victims.length < uids.length) return 0;
    candidates.push(candidateOf(node, victims, budgetViolations));
  }
  if (candidates.length === 0) return Infinity;
  const best = new Set(chooseNode(candidates).best);
  return Math.min(...candidates.filter(({ node }) => best.has(node)).map(({ victims }) => longestGrace(victims, now)));
}

/** Why no pod has to be preempted on a node. */
export function roomSoon(node: string): Because {
  return { code: 'RoomSoon', text: `terminating pods on ${node} already free enough`, facts: { node } };
}

function soonElsewhere(node: string): Because {
  return { ...roomSoon(node), code: 'RoomSoonElsewhere' };
}

/**
 * Whether the model reproduces kube-scheduler's result: the incoming pod does not fit on the node as it is, it fits
 * without the victims (by index, in order of importance), and each of them is necessary. If not, kube-scheduler has a
 * reason that the model does not know. `plugins/defaultpreemption/default_preemption.go` SelectVictimsOnNode.
 */
export function isReproduced(state: PrefilterState, entry: NodeEntry, victims: LeavingPods): boolean {
  if (state.nodeFilters.some((filter) => filter(entry) !== undefined)) return false;
  const trial = openTrial(state, entry);
  if (refusalIn(trial) === undefined) return false;
  takeOff(trial, victims);
  return refusalIn(trial) === undefined && putBack(trial, victims).length === victims.length;
}

/** Whether the incoming pod fits once these pods have left. */
function fitsWithout(state: PrefilterState, entry: NodeEntry, leaving: LeavingPods): boolean {
  if (leaving.length === 0) return false;
  const trial = openTrial(state, entry);
  takeOff(trial, leaving);
  return refusalIn(trial) === undefined;
}

/** The necessary victims, and for how many of them a disruption budget would be violated. */
interface NeededVictims {
  readonly uids: readonly string[];
  readonly budgetViolations: number;
}

/** Victims, some of which leaving pods may make unnecessary. */
interface Reducible {
  readonly uids: readonly string[];
  readonly leaving: LeavingPods;
  /** These are left out first, then those that violate a budget. */
  readonly isSpared: (pod: Pod) => boolean;
}

/**
 * The victims that are needed in addition to leaving pods; `undefined` if all or none are. Victims that are leaving
 * anyway are still named: without them kube-scheduler would consider the node cheaper than it is.
 */
export function neededBeside(
  state: PrefilterState,
  entry: NodeEntry,
  { uids, leaving, isSpared }: Reducible,
): NeededVictims | undefined {
  if (leaving.length === 0) return undefined;
  const { pods } = sheetOf(entry);
  const chosen = new Set(uids);
  const victims = pods.flatMap(({ pod }, index) => (chosen.has(pod.uid) && !leaving.includes(index) ? [index] : []));
  const trial = openTrial(state, entry);
  takeOff(trial, [...leaving, ...victims]);
  if (refusalIn(trial) !== undefined) return undefined;
  const { violators } = splitByBudgets(state.account, entry, lowerPods(entry, state));
  const ranks = new Map(victims.map((index) => [index, rankOf(isSpared(pods[index]?.pod as Pod), violators, index)]));
  const needed = putBack(
    trial,
    victims.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0)),
  );
  if (needed.length === 0 || needed.length === victims.length) return undefined;
  const named = [...needed, ...leaving.filter((index) => chosen.has(pods[index]?.pod.uid ?? ''))].toSorted(
    (a, b) => a - b,
  );
  const budgetViolations = named.filter((index) => violators.includes(index)).length;
  return { uids: named.map((index) => pods[index]?.pod.uid ?? ''), budgetViolations };
}

function rankOf(isSpared: boolean, violators: LeavingPods, index: number): number {
  if (isSpared) return 0;
  return violators.includes(index) ? 1 : 2;
}
