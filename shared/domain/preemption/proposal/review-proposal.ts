import type { Because } from '#shared/domain/base/because.ts';
import { finish, type Steps } from '#shared/domain/base/steps.ts';
import { spareMembers } from '#shared/domain/gang/gang-cost.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { type ClusterSnapshot, isFreshReport } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type EndingPod, endingSoon, type LeavingPods } from '#shared/domain/placement/trial/leaving-pods.ts';
import { prefilterInSteps, unmodelledNeeds } from '#shared/domain/placement/trial/prefilter-state.ts';
import {
  asProposed,
  firstProtection,
  indexesOf,
  mayAllGo,
  mayKeep,
  rulesOn,
  type RulesOnNode,
  unguarded,
  withinBudgets,
  withinFreeRoom,
} from './as-proposed.ts';
import {
  lastResortVictims,
  leaveNodes,
  type NodeReview,
  type NodeVerdict,
  preferNodes,
  type Proposal,
  type ProposalRules,
  type ProposedVictims,
  type ProposalReview,
  removed,
} from './proposal.ts';
import { sparingGangs } from './whole-gangs.ts';
import { awaitRoom, endingBefore, isReproduced, mayWait, neededBeside, soonRoom } from './wait-for-room.ts';
import { compareCosts, costOf } from '#shared/domain/placement/victims/choose-node.ts';
import {
  fairOrder,
  type MayTake,
  victimOrder,
  type VictimOrder,
  victimsOnNode,
} from '#shared/domain/placement/victims/victims-on-node.ts';
import { whySetAside } from '#shared/domain/placement/set-aside/set-aside-room.ts';

/** Nodes to examine in one step if nothing could change the proposal. */
const QUIET_PER_STEP = 16;

type KeptNode = Exclude<NodeVerdict, { kind: 'removed' }>;

/** A node as kube-scheduler and the snapshot know it. */
interface ProposedNode {
  readonly entry: NodeEntry;
  readonly proposed: ProposedVictims;
  /** In order of importance. */
  readonly victims: readonly PlacedPod[];
  /** Why a victim is protected. */
  readonly guarded: Because | undefined;
}

/**
 * Reviews the nodes on which kube-scheduler could make room for a pod by preemption, and the victims on each. Its
 * proposal proves that the pod fits. Nodes without a protected victim are not changed. If the model reproduces the
 * result, protected victims are replaced by others, and pods that terminate soon enough anyway are counted: victims
 * that this makes unnecessary stay, and if none is necessary the pod waits for that room. If the model does not
 * reproduce it, the node stays as proposed, or is removed because of a protected victim (docs/contributing/decisions/extender.md). A list of
 * victims is empty only if it was proposed so. Mechanisms S0-4, S0-8, S0-9, S0-10, S0-26.
 */
export function* reviewInSteps(
  snapshot: ClusterSnapshot,
  { pod, proposal, now, idleFor = () => 0, waitedFor = () => 0 }: Proposal,
  rules: ProposalRules,
): Steps<readonly NodeVerdict[]> {
  const isModelled = unmodelledNeeds(pod, snapshot).length === 0;
  const review = { state: yield* prefilterInSteps(snapshot, pod), isModelled, rules, now, idleFor, waitedFor };
  const reviewed: NodeReview[] = [];
  for (const proposed of proposal) {
    const quiet = reviewQuiet(review, proposed);
    reviewed.push(quiet ?? reviewNode(review, proposed));
    if (quiet === undefined || reviewed.length % QUIET_PER_STEP === 0) yield;
  }
  const reviews = leaveOthers(review, reviewed);
  const verdicts = reviews.map(({ verdict }) => verdict);
  const isRoomSoon = reviews.some(({ room }) => room !== undefined);
  const awaited = isRoomSoon ? yield* awaitRoom(review, reviews) : undefined;
  if (awaited !== undefined) return awaited;
  const left = yield* sparingGangs(verdicts, snapshot, rules);
  return rules.usageAware ? yield* preferNodes(left, snapshot, now) : left;
}

/** `reviewInSteps`, run to the end. */
export function reviewProposal(...given: Parameters<typeof reviewInSteps>): readonly NodeVerdict[] {
  return finish(reviewInSteps(...given));
}

function leaveOthers({ rules, state }: ProposalReview, reviews: readonly NodeReview[]): readonly NodeReview[] {
  const toLeave = rules.toLeave?.(state.pod);
  if (toLeave === undefined || toLeave.size === 0) return reviews;
  const left = leaveNodes(
    reviews.map(({ verdict }) => verdict),
    toLeave,
  );
  return reviews.map((each, index) => {
    const verdict = left[index] as NodeVerdict;
    return verdict === each.verdict ? each : { proposed: each.proposed, verdict };
  });
}

/** The review of a node on which nothing could change the proposal; `undefined` for others. */
function reviewQuiet(
  { state: { snapshot, pod }, rules }: ProposalReview,
  proposed: ProposedVictims,
): NodeReview | undefined {
  const entry = snapshot.nodes.get(proposed.node);
  if (entry === undefined || snapshot.nominatedNodes.has(proposed.node) || proposed.uids.length === 0) return undefined;
  const isQuiet = isPlain(snapshot, entry, rules) && mayAllGo(sheetOf(entry), pod, proposed.uids, rules);
  return isQuiet ? { proposed, verdict: unguarded(proposed, rules) } : undefined;
}

/** No pod leaves the node, and no other order of victims is required. */
function isPlain(
  { pressures }: Pick<ClusterSnapshot, 'pressures'>,
  entry: NodeEntry,
  { tieBreak, usageAware, gangs }: ProposalRules,
): boolean {
  if (tieBreak !== 'none' || sheetOf(entry).terminating.length > 0 || gangOrder(gangs, entry) !== undefined)
    return false;
  const facts = pressures.get(entry.node.name);
  return facts === undefined || (facts.evicting.size === 0 && !usageAware);
}

function reviewNode(review: ProposalReview, proposed: ProposedVictims): NodeReview {
  const { state, rules } = review;
  const incoming = { ...review, pod: state.pod };
  const entry = state.snapshot.nodes.get(proposed.node);
  const indexes = entry && indexesOf(sheetOf(entry), proposed.uids);
  if (entry === undefined || indexes === undefined) {
    const verdict = asProposed(state.snapshot, state.pod, proposed, rules);
    return {
      proposed,
      verdict: proposed.uids.length === 0 ? withinFreeRoom(state.snapshot, incoming, verdict) : verdict,
    };
  }
  const sheet = sheetOf(entry);
  const victims = indexes.map((index) => sheet.pods[index] as PlacedPod);
  const onNode: RulesOnNode = mayKeep(rules, sheet) ? rulesOn(rules, state.pod, { victims, pods: sheet.pods }) : rules;
  const isGuarded = (rules.holdsProtected?.(sheet) ?? true) || onNode.keepsProposed === true;
  const guarded = isGuarded ? firstProtection(victims, state.pod, onNode) : undefined;
  const reviewed = reviewKnown({ ...review, rules: onNode }, { entry, proposed, victims, guarded }, indexes);
  return { ...reviewed, verdict: withinFreeRoom(state.snapshot, incoming, reviewed.verdict) };
}

function reviewKnown(review: ProposalReview, known: ProposedNode, indexes: LeavingPods): NodeReview {
  const { state, rules, now } = review;
  const { entry, proposed, victims, guarded } = known;
  const isEnding = victims.every(({ pod }) => pod.deletion !== undefined);
  if (isEnding) return { proposed, verdict: { kind: 'kept', victims: proposed } };
  const ending = endingSoon(state.snapshot, entry, now);
  const isUnchanged = guarded === undefined && ending.length === 0 && orderOn(review, proposed.node) === undefined;
  if (isUnchanged || !isKnown(review, known) || !isReproduced(state, entry, indexes))
    return {
      proposed,
      verdict: guarded === undefined ? unguarded(proposed, rules) : removed(proposed.node, guarded),
    };
  const soon = endingBefore(ending, victims, now);
  const room = soonRoom(review, entry, soon, proposed);
  const isOpen = room !== undefined && whySetAside(state.snapshot, entry, { ...review, pod: state.pod }) === undefined;
  return { proposed, verdict: choose(review, known, soon), room: isOpen ? room : undefined };
}

/**
 * Whether the model covers what the pod needs there. The proposal proves that its claims and volumes are met once the
 * victims are gone. Victims that hold none make no difference to that, so another pod may take the place of a protected
 * one, for which the pod would otherwise wait for ever.
 */
function isKnown({ isModelled, state }: ProposalReview, { guarded, victims }: ProposedNode): boolean {
  if (isModelled || guarded === undefined) return isModelled;
  return victims.every(({ pod }) => unmodelledNeeds(pod, state.snapshot).length === 0);
}

/** The victims on a node where the model reproduces the proposal. */
function choose(review: ProposalReview, known: ProposedNode, soon: readonly EndingPod[]): NodeVerdict {
  const { proposed, guarded } = known;
  if (guarded === undefined)
    return withinBudgets(onlyNeeded(review, known, preferVictims(review, known), soon), review.rules);
  const reduced = onlyNeeded(review, known, { kind: 'kept', victims: proposed }, soon);
  const isSpared = !reduced.victims.uids.some((uid) => isProtected(review, known, uid));
  if (isSpared) return withinBudgets(reduced, review.rules);
  const chosen = withoutProtected(review, known, guarded);
  return chosen.kind === 'removed' ? chosen : withinBudgets(onlyNeeded(review, known, chosen, soon), review.rules);
}

function isProtected({ state, rules }: ProposalReview, { victims }: ProposedNode, uid: string): boolean {
  const victim = victims.filter(({ pod }) => pod.uid === uid);
  return firstProtection(victim, state.pod, rules) !== undefined;
}

/** The same room made by pods that may be preempted; as a last resort also by those that opted out. */
function withoutProtected(review: ProposalReview, known: ProposedNode, guarded: Because): NodeVerdict {
  const { state, rules } = review;
  const { entry, proposed, victims } = known;
  const others = substitute(review, known, (pod) => rules.protection(pod, state.pod) === undefined);
  if (others !== undefined) return { ...others, because: guarded };
  const mayTake = lastResortVictims(state, entry, rules);
  if (mayTake === undefined) return removed(entry.node.name, guarded);
  if (victims.every(({ pod }) => mayTake(pod))) return { kind: 'kept', victims: proposed };
  const last = substitute(review, known, mayTake);
  return last === undefined ? removed(entry.node.name, guarded) : { ...last, because: guarded };
}

type Substitute = Omit<Extract<NodeVerdict, { kind: 'changed' }>, 'because'>;

/**
 * Victims as kube-scheduler would choose them among the pods that may be preempted; `undefined` if they do not make
 * enough room. A terminating pod counts only if kube-scheduler itself waits for it.
 */
function substitute(
  review: ProposalReview,
  { entry, proposed }: ProposedNode,
  isOpen: MayTake,
): Substitute | undefined {
  const { name: node } = entry.node;
  const order = fairOrder(orderOn(review, node), review.rules);
  const mayTake = (pod: Pod): boolean => (pod.deletion === undefined ? isOpen(pod) : proposed.uids.includes(pod.uid));
  const found = victimsOnNode(review.state, entry, { mayTake, ...(order !== undefined && { order }) });
  if (found.kind !== 'candidate' || found.victims.length === 0) return undefined;
  const uids = found.victims.map(({ pod }) => pod.uid);
  return { kind: 'changed', victims: { node, uids, budgetViolations: found.budgetViolations } };
}

/** Other victims that kube-scheduler ranks equally, if the rules require an order and it yields some. */
function preferVictims(review: ProposalReview, known: ProposedNode): KeptNode {
  const { proposed, victims } = known;
  const kept: KeptNode = { kind: 'kept', victims: proposed };
  const { state, rules } = review;
  if (orderOn(review, proposed.node) === undefined) return kept;
  const found = substitute(review, known, (pod) => rules.protection(pod, state.pod) === undefined);
  if (found === undefined || found.victims.uids.every((uid) => proposed.uids.includes(uid))) return kept;
  const others = found.victims.uids.flatMap((uid) => state.snapshot.placedPods.get(uid) ?? []);
  const costs = [costOf(victims, proposed.budgetViolations), costOf(others, found.victims.budgetViolations)] as const;
  return compareCosts(...costs) === 0 ? { ...found, because: otherVictims(proposed.node) } : kept;
}

function orderOn({ state, rules, now }: ProposalReview, node: string): VictimOrder | undefined {
  const facts = state.snapshot.pressures.get(node);
  const isKnown = facts !== undefined && isFreshReport(facts.observedAt, now);
  const usual = victimOrder(rules, isKnown ? facts.overRequest : NO_PODS);
  const entry = state.snapshot.nodes.get(node);
  const byGang = entry && gangOrder(rules.gangs, entry);
  return byGang === undefined ? usual : (a, b) => b.priority - a.priority || byGang(a, b) || (usual?.(a, b) ?? 0);
}

/** Pods whose gang would fall below its minimum are more important than others of their priority. */
function gangOrder(gangs: ProposalRules['gangs'], entry: NodeEntry): VictimOrder | undefined {
  if (gangs?.isAny !== true || !entry.occupancy.pods.some(({ pod }) => gangs.of(pod) !== undefined)) return undefined;
  const costsGang = ({ pod }: PlacedPod): number => {
    const gang = gangs.of(pod);
    return Number(gang !== undefined && spareMembers(gang) < 1);
  };
  return (a, b) => costsGang(b) - costsGang(a);
}

const NO_PODS: ReadonlySet<string> = new Set();

/** Leaves out the victims that soon-terminating pods make unnecessary; protected ones first. */
function onlyNeeded(
  review: ProposalReview,
  known: ProposedNode,
  chosen: KeptNode,
  soon: readonly EndingPod[],
): KeptNode {
  const { state, rules } = review;
  const { node, uids, budgetViolations } = chosen.victims;
  const needed = neededBeside(state, known.entry, {
    uids,
    leaving: soon.map(({ index }) => index),
    isSpared: (pod) => rules.protection(pod, state.pod) !== undefined,
  });
  if (needed === undefined || !mayWait(review, node)) return chosen;
  const victims = { node, uids: needed.uids, budgetViolations: Math.min(budgetViolations, needed.budgetViolations) };
  const because = chosen.kind === 'changed' ? chosen.because : fewerNeeded(node, uids.length - needed.uids.length);
  return { kind: 'changed', victims, because };
}

function fewerNeeded(node: string, spared: number): Because {
  const text = `terminating pods on ${node} free a part of the room, so ${spared} of the victims can stay`;
  return { code: 'RoomPartlySoon', text, facts: { node, spared } };
}

function otherVictims(node: string): Because {
  const text = `other pods of the same priorities on ${node} are preempted first`;
  return { code: 'PreferredVictims', text, facts: { node } };
}
