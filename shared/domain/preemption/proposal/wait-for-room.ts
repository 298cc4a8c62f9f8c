import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type EndingPod, graceOf, LONGEST_WAIT_MS } from '#shared/domain/preemption/trial/leaving-pods.ts';
import { chooseNode } from '#shared/domain/preemption/victims/choose-node.ts';
import { candidateOf } from '#shared/domain/preemption/victims/victims-cost.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { fitsWithout } from './proof.ts';
import {
  type NodeReview,
  type NodeVerdict,
  type ProposedVictims,
  type Review,
  type SoonRoom,
  takenAway,
} from './proposal.ts';

/**
 * The room that pods free which end by themselves, where it is enough. Those of lower priority that are terminating stand
 * for the victims: kube-scheduler deletes no pod a second time, but it nominates the node, so pods of lower priority
 * cannot take the room as it becomes free. `undefined` where there is none to be named: without a nomination the room
 * could be lost. `pkg/scheduler/framework/preemption/executor.go` prepareCandidateAsync.
 */
export function soonRoom(
  review: Review,
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

/** Protected pods are not named: kube-scheduler may not have seen yet that they are terminating. */
function isNameable({ pod, priority }: PlacedPod, { state, rules }: Review): boolean {
  return pod.deletion !== undefined && priority < state.priority && rules.protection(pod, state.pod) === undefined;
}

/** Those of the pods that end before a preemption of these victims would be over. */
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

/** Whether the pod may be put off on the node: once, and for no longer than a minute. */
export function mayWait({ state, now, waitedFor }: Review, node: string): boolean {
  return waitedFor(state.pod, node, now) <= LONGEST_WAIT_MS;
}

/**
 * Keeps only the nodes where the pod gets room without a preemption, if there are any and the room comes no later than by
 * the preemption that kube-scheduler would choose. The other nodes are taken away, because the pods named for such room
 * say nothing about what it costs: that is nothing. `undefined` where a preemption is due.
 */
export function awaitRoom(review: Review, reviews: readonly NodeReview[]): readonly NodeVerdict[] | undefined {
  const rooms = reviews.flatMap(({ room }) => room ?? []);
  if (rooms.length === 0) return undefined;
  const overAt = review.now + fastestChoice(review, reviews);
  const timely = rooms.filter(({ endsAt, victims }) => endsAt <= overAt && mayWait(review, victims.node));
  const [first] = timely;
  if (first === undefined) return undefined;
  const byNode = new Map(timely.map((room) => [room.victims.node, room]));
  return reviews.map(({ proposed }) => {
    const room = byNode.get(proposed.node);
    return room === undefined ? takenAway(proposed.node, soonElsewhere(first.victims.node)) : waiting(room, proposed);
  });
}

function waiting({ victims, failsAfter }: SoonRoom, proposed: ProposedVictims): NodeVerdict {
  const { node, uids } = victims;
  const isProposed = uids.length === proposed.uids.length && uids.every((uid) => proposed.uids.includes(uid));
  if (isProposed) return { kind: 'kept', victims: proposed };
  return { kind: 'changed', victims, because: roomSoon(node), waitsUntil: failsAfter };
}

/** How long the preemption takes that kube-scheduler would choose; of several equal ones the fastest. */
function fastestChoice({ state: { snapshot }, now }: Review, reviews: readonly NodeReview[]): number {
  const left = reviews.flatMap(({ verdict }) => (verdict.kind === 'takenAway' ? [] : [verdict.victims]));
  const candidates = left.map(({ node, uids, budgetViolations }) =>
    candidateOf(
      node,
      uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []),
      budgetViolations,
    ),
  );
  if (candidates.some(({ victims }, index) => victims.length < (left[index]?.uids.length ?? 0))) return 0;
  const best = new Set(candidates.length === 0 ? [] : chooseNode(candidates).best);
  return Math.min(...candidates.filter(({ node }) => best.has(node)).map(({ victims }) => longestGrace(victims, now)));
}

/** Why no pod has to be preempted on a node. */
export function roomSoon(node: string): Because {
  return { code: 'RoomSoon', text: `terminating pods on ${node} already free enough`, facts: { node } };
}

function soonElsewhere(node: string): Because {
  return { ...roomSoon(node), code: 'RoomSoonElsewhere' };
}
