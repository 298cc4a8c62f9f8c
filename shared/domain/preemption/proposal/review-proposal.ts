import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { isFreshReport } from '#shared/domain/snapshot/freshness.ts';
import type { NodeEntry, NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { leavingPods, type LeavingPods } from '#shared/domain/preemption/trial/leaving-pods.ts';
import { fitsWithout, neededBeside } from './needed-victims.ts';
import { prefilter, type PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { lastResortVictims } from './last-resort-victims.ts';
import { leaveNodes } from './leave-nodes.ts';
import { preferNodes } from './prefer-nodes.ts';
import { type NodeVerdict, type Proposal, type ProposalRules, type ProposedVictims, takenAway } from './proposal.ts';
import { compareCosts, costOf } from '#shared/domain/preemption/victims/victims-cost.ts';
import { victimOrder, type VictimOrder } from '#shared/domain/preemption/victims/victim-order.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import { whySetAside } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import { type MayTake, victimsOnNode } from '#shared/domain/preemption/victims/victims-on-node.ts';
import { waitForRoom } from './wait-for-room.ts';

/** What all nodes of one proposal are reviewed with. */
interface Review {
  readonly state: PrefilterState;
  readonly rules: ProposalRules;
  readonly now: Instant;
  readonly idleFor: IdleFor;
}

type Left = Exclude<NodeVerdict, { kind: 'takenAway' }>;

/**
 * Reviews the nodes on which kube-scheduler could make room for a pod by preemption, and the victims on each. Nodes on
 * which no protected pod would go stay as they are; on others the same room is made by pods that may go, where that is
 * possible. Room that leaving pods free is counted: victims that are then unnecessary stay, and where none is necessary
 * the pod waits for that room. No list of victims is ever empty or holds a pod that the snapshot does not know. Mechanisms
 * S0-4, S0-8, S0-9, S0-10, S0-26.
 */
export function reviewProposal(
  snapshot: ClusterSnapshot,
  { pod, proposal, now, idleFor = () => 0 }: Proposal,
  rules: ProposalRules,
): readonly NodeVerdict[] {
  const review = { state: prefilter(snapshot, pod), rules, now, idleFor };
  const reviewed = proposal.map((proposed) => withinFreeRoom(review, reviewNode(review, proposed)));
  const verdicts = rules.toLeave === undefined ? reviewed : leaveNodes(reviewed, rules.toLeave(pod));
  return rules.usageAware ? preferNodes(verdicts, snapshot, now) : verdicts;
}

function reviewNode(review: Review, proposed: ProposedVictims): NodeVerdict {
  const { state, rules, now } = review;
  const { node } = proposed;
  const entry = state.snapshot.nodes.get(node);
  const victims = entry && knownVictims(sheetOf(entry), proposed.uids);
  if (entry === undefined || victims === undefined) return unknown(proposed);
  const leaving = leavingPods(state.snapshot, entry, now);
  if (fitsWithout(state, entry, leaving)) return waitForRoom({ ...state, rules }, entry, leaving, proposed);
  const isGuarded = rules.holdsProtected?.(sheetOf(entry)) ?? true;
  const guarded = isGuarded ? firstProtection(victims, state.pod, rules) : undefined;
  const chosen =
    guarded === undefined
      ? preferVictims(review, entry, { proposed, victims })
      : withoutProtected(review, entry, { proposed, victims }, guarded);
  if (chosen.kind === 'takenAway') return chosen;
  return withinBudgets(onlyNeeded(state, entry, leaving, chosen), rules);
}

/** Takes a node away where `filter` would keep the pod from the room: the victims would be removed for nothing. */
function withinFreeRoom({ state, now, idleFor }: Review, verdict: NodeVerdict): NodeVerdict {
  const { snapshot, pod } = state;
  if (verdict.kind === 'takenAway' || !snapshot.nominatedNodes.has(verdict.victims.node)) return verdict;
  const { node, uids } = verdict.victims;
  const entry = snapshot.nodes.get(node) as NodeEntry;
  const known = sheetOf(entry).uids;
  const victims = uids.map((uid) => known.indexOf(uid));
  const because = whySetAside(snapshot, entry, { pod, now, idleFor }, victims);
  return because === undefined ? verdict : takenAway(node, because);
}

/** The victims among the pods of their node; `undefined` unless all are there. */
function knownVictims({ pods, uids: known }: NodeSheet, uids: readonly string[]): readonly PlacedPod[] | undefined {
  const victims: PlacedPod[] = [];
  let at = 0;
  for (const uid of uids) {
    const found = indexOf(known, uid, at);
    if (found < 0) return undefined;
    victims.push(pods[found] as PlacedPod);
    at = found + 1;
  }
  return victims.length === 0 ? undefined : victims;
}

/** Both lists are in order of importance, so most are found at once, in less time than by a look-up in a large map. */
function indexOf(known: readonly string[], uid: string, from: number): number {
  for (let index = from; index < known.length; index += 1) if (known[index] === uid) return index;
  return known.indexOf(uid);
}

interface Chosen {
  readonly proposed: ProposedVictims;
  readonly victims: readonly PlacedPod[];
}

/** The same room made by pods that may go, as a last resort also by those that opted out. */
function withoutProtected(review: Review, entry: NodeEntry, chosen: Chosen, guarded: Because): NodeVerdict {
  const { state, rules } = review;
  const isOpen = (pod: Pod): boolean => rules.protection(pod, state.pod) === undefined;
  const others = substitute(review, entry, isOpen, guarded);
  if (others !== undefined) return others;
  const mayTake = lastResortVictims(state, entry, rules);
  if (mayTake === undefined) return takenAway(entry.node.name, guarded);
  if (chosen.victims.every(({ pod }) => mayTake(pod))) return { kind: 'kept', victims: chosen.proposed };
  return substitute(review, entry, mayTake, guarded) ?? takenAway(entry.node.name, guarded);
}

/** Victims among the pods that may be taken; `undefined` where they do not make enough room. */
function substitute(review: Review, entry: NodeEntry, mayTake: MayTake, because: Because): Left | undefined {
  const { name: node } = entry.node;
  const order = orderOn(review, node);
  const found = victimsOnNode(review.state, entry, { mayTake, ...(order !== undefined && { order }) });
  if (found.kind !== 'candidate' || found.victims.length === 0) return undefined;
  const uids = found.victims.map(({ pod }) => pod.uid);
  return { kind: 'changed', victims: { node, uids, budgetViolations: found.budgetViolations }, because };
}

/** Other victims that kube-scheduler ranks equally, where the rules ask for an order and it finds some. */
function preferVictims(review: Review, entry: NodeEntry, { proposed, victims }: Chosen): Left {
  const kept: Left = { kind: 'kept', victims: proposed };
  const { state, rules } = review;
  const order = orderOn(review, proposed.node);
  if (order === undefined) return kept;
  const mayTake = (pod: Pod): boolean => rules.protection(pod, state.pod) === undefined;
  const found = victimsOnNode(state, entry, { mayTake, order });
  if (found.kind !== 'candidate' || found.victims.length === 0) return kept;
  const cost = costOf(victims, proposed.budgetViolations);
  if (compareCosts(cost, costOf(found.victims, found.budgetViolations)) !== 0) return kept;
  const uids = found.victims.map(({ pod }) => pod.uid);
  if (uids.every((uid) => proposed.uids.includes(uid))) return kept;
  return { kind: 'changed', victims: { ...proposed, uids }, because: otherVictims(proposed.node) };
}

function orderOn({ state, rules, now }: Review, node: string): VictimOrder | undefined {
  const facts = state.snapshot.pressures.get(node);
  const isKnown = facts !== undefined && isFreshReport(facts.observedAt, now);
  return victimOrder(rules, isKnown ? facts.overRequest : NO_PODS);
}

const NO_PODS: ReadonlySet<string> = new Set();

/** Without the victims that leaving pods make unnecessary. */
function onlyNeeded(state: PrefilterState, entry: NodeEntry, leaving: LeavingPods, chosen: Left): Left {
  const needed = neededBeside(state, entry, leaving, chosen.victims.uids);
  if (needed === undefined) return chosen;
  const { node, uids } = chosen.victims;
  const because = chosen.kind === 'changed' ? chosen.because : fewerNeeded(node, uids.length - needed.uids.length);
  return { kind: 'changed', victims: { node, ...needed }, because };
}

/** Takes the node away where budgets are hard and one of them would be violated. */
export function withinBudgets(left: Left, { budgets }: ProposalRules): NodeVerdict {
  const { node, budgetViolations } = left.victims;
  return budgets === 'Hard' && budgetViolations > 0 ? takenAway(node, overBudget(node, budgetViolations)) : left;
}

/** Why the first protected one of these victims must not be preempted; `undefined` where all may be. */
export function firstProtection(
  victims: readonly PlacedPod[],
  preemptor: Pod,
  { protection }: ProposalRules,
): Because | undefined {
  for (const { pod } of victims) {
    const because = protection(pod, preemptor);
    if (because !== undefined) return because;
  }
  return undefined;
}

function unknown({ node, uids }: ProposedVictims): NodeVerdict {
  const text = `the extender does not know all ${uids.length} victims on ${node} yet`;
  return takenAway(node, { code: 'UnknownVictims', text, facts: { node, victims: uids.length } });
}

function fewerNeeded(node: string, spared: number): Because {
  const text = `terminating pods on ${node} free a part of the room, so ${spared} of the victims can stay`;
  return { code: 'RoomPartlySoon', text, facts: { node, spared } };
}

function otherVictims(node: string): Because {
  const text = `other pods of the same priorities on ${node} are preempted first`;
  return { code: 'PreferredVictims', text, facts: { node } };
}

function overBudget(node: string, budgetViolations: number): Because {
  const text = `the preemption of ${budgetViolations} victims on ${node} would violate a disruption budget`;
  return { code: 'OverBudget', text, facts: { node, budgetViolations } };
}
