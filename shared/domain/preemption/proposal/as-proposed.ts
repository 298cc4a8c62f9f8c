import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { LeavingPods } from '#shared/domain/placement/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type NodeSheet, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { type PlacedPod, priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { type IncomingPod, whySetAside } from '#shared/domain/placement/set-aside/set-aside-room.ts';
import { type NodeVerdict, type Proposal, type ProposalRules, type ProposedVictims, removed } from './proposal.ts';

type KnownVictims = Pick<ClusterSnapshot, 'nodes' | 'placedPods'>;

/** Nodes to review for protection in one step. */
const NODES_PER_STEP = 16;

/**
 * Reviews a proposal only by what protects its victims: for a snapshot that is no longer kept up to date, or if there
 * is no time for more. No node gets other victims: kube-scheduler ignores an extender that names a pod which is gone,
 * and would then preempt the protected one (docs/contributing/decisions/extender.md).
 */
export function reviewByProtection(
  snapshot: KnownVictims,
  { pod, proposal }: Proposal,
  rules: ProposalRules,
): Steps<readonly NodeVerdict[]> {
  return collectInSteps(proposal, (victims) => asProposed(snapshot, pod, victims, rules), NODES_PER_STEP);
}

/**
 * The verdict on a node about which kube-scheduler knows more than the snapshot: it stays as proposed, even with
 * victims that the snapshot does not know. It is removed if a known victim is protected (docs/contributing/decisions/extender.md).
 */
export function asProposed(
  snapshot: KnownVictims,
  preemptor: Pod,
  victims: ProposedVictims,
  rules: ProposalRules,
): NodeVerdict {
  if (victims.uids.length === 0) return { kind: 'kept', victims };
  const entry = snapshot.nodes.get(victims.node);
  if (entry !== undefined && mayAllGo(sheetOf(entry), preemptor, victims.uids, rules)) return unguarded(victims, rules);
  const known = victims.uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []);
  const guarded = firstProtection(known, preemptor, rulesOn(rules, preemptor, { victims: known, pods: known }));
  return guarded === undefined ? unguarded(victims, rules) : removed(victims.node, guarded);
}

/**
 * Whether no rule protects one of these pods of a node, which holds them all. Most victims are on such nodes; looking
 * each up among all pods would dominate the time.
 */
export function mayAllGo(
  sheet: NodeSheet,
  preemptor: Pod,
  uids: readonly string[],
  rules: Pick<ProposalRules, 'holdsProtected' | 'keptOn' | 'mayKeepOn'>,
): boolean {
  if (rules.holdsProtected?.(sheet) !== false) return false;
  const keep = mayKeep(rules, sheet) ? rules.keptOn?.(preemptor) : undefined;
  if (keep === undefined) return holdsAll(sheet, uids);
  const proposed = eachAmong(sheet, uids, ({ pod }) => pod);
  return proposed !== undefined && !keep({ proposed, others: NO_OTHERS }).keepsProposed;
}

/** Whether the proposed pods may go together does not depend on others. */
const NO_OTHERS = (): readonly Pod[] => [];

/** Whether pods of a node may be protected as a group. */
export function mayKeep({ keptOn, mayKeepOn }: Pick<ProposalRules, 'keptOn' | 'mayKeepOn'>, sheet: NodeSheet): boolean {
  return keptOn !== undefined && mayKeepOn?.(sheet) !== false;
}

/** The verdict on a node as it was proposed, without a protected victim. */
export function unguarded(victims: ProposedVictims, rules: ProposalRules): NodeVerdict {
  return withinBudgets({ kind: 'kept', victims }, rules);
}

/** Victims among the pods of their node, by index; `undefined` if there are none or some are missing. */
export function indexesOf(sheet: NodeSheet, uids: readonly string[]): LeavingPods | undefined {
  const indexes: number[] = [];
  const areHeld = eachIndex(sheet, uids, (index) => indexes.push(index));
  return areHeld && indexes.length > 0 ? indexes.toReversed() : undefined;
}

/** These pods of a node, in the same order; `undefined` if there are none or some are missing. */
export function podsAmong(sheet: NodeSheet, uids: readonly string[]): readonly PlacedPod[] | undefined {
  return eachAmong(sheet, uids, (placed) => placed);
}

function eachAmong<T>(sheet: NodeSheet, uids: readonly string[], valueOf: (pod: PlacedPod) => T): T[] | undefined {
  const found = new Array<T>(uids.length);
  let at = uids.length;
  const areHeld = eachIndex(sheet, uids, (index) => (found[(at -= 1)] = valueOf(sheet.pods[index] as PlacedPod)));
  return areHeld && uids.length > 0 ? found : undefined;
}

/** Whether all of these pods are on a node. */
function holdsAll(sheet: NodeSheet, uids: readonly string[]): boolean {
  return eachIndex(sheet, uids, () => undefined);
}

/** From the last to the first; false at the first pod that the node does not hold. */
function eachIndex({ uids: known }: NodeSheet, uids: readonly string[], visit: (index: number) => void): boolean {
  let before = known.length;
  for (let at = uids.length - 1; at >= 0; at -= 1) {
    before = lastIndexBefore(known, uids[at] as string, before);
    if (before < 0) return false;
    visit(before);
  }
  return true;
}

/**
 * Both lists are in order of importance, and the victims are the least important, so most are found at once, faster
 * than by a look-up in a large map.
 */
function lastIndexBefore(known: readonly string[], uid: string, before: number): number {
  for (let index = before - 1; index >= 0; index -= 1) if (known[index] === uid) return index;
  return known.lastIndexOf(uid);
}

/**
 * Why the first protected one of these victims must not be preempted; `undefined` if all may be. A victim that is
 * already terminating loses nothing: kube-scheduler deletes no pod twice.
 */
export function firstProtection(
  victims: readonly PlacedPod[],
  preemptor: Pod,
  { protection }: ProposalRules,
): Because | undefined {
  for (const { pod } of victims) {
    const because = pod.deletion === undefined ? protection(pod, preemptor) : undefined;
    if (because !== undefined) return because;
  }
  return undefined;
}

/** Removes the node if budgets are hard and one of them would be violated. */
export function withinBudgets(left: Exclude<NodeVerdict, { kind: 'removed' }>, rules: ProposalRules): NodeVerdict {
  const { node, budgetViolations } = left.victims;
  return rules.budgets === 'Hard' && budgetViolations > 0 ? removed(node, overBudget(node, budgetViolations)) : left;
}

function overBudget(node: string, budgetViolations: number): Because {
  const text = `the preemption of ${budgetViolations} victims on ${node} would violate a disruption budget`;
  return { code: 'OverBudget', text, facts: { node, budgetViolations } };
}

/** Removes a node if `filter` would keep the pod from the room: the victims would be preempted in vain. */
export function withinFreeRoom(snapshot: ClusterSnapshot, incoming: IncomingPod, verdict: NodeVerdict): NodeVerdict {
  if (verdict.kind === 'removed' || !snapshot.nominatedNodes.has(verdict.victims.node)) return verdict;
  const { node, uids } = verdict.victims;
  const entry = snapshot.nodes.get(node);
  if (entry === undefined) return verdict;
  const known = sheetOf(entry).uids;
  const victims = uids.map((uid) => known.indexOf(uid)).filter((index) => index >= 0);
  const because = whySetAside(snapshot, entry, incoming, victims);
  return because === undefined ? verdict : removed(node, because);
}

/** The same for all nodes of a proposal. */
export function* leaveSetAside(
  snapshot: ClusterSnapshot,
  incoming: IncomingPod,
  verdicts: readonly NodeVerdict[],
): Steps<readonly NodeVerdict[]> {
  const left: NodeVerdict[] = [];
  for (const verdict of verdicts) {
    const reviewed = withinFreeRoom(snapshot, incoming, verdict);
    left.push(reviewed);
    if (verdict.kind !== 'removed' && snapshot.nominatedNodes.has(verdict.victims.node)) yield;
  }
  return left;
}

/** The pods of a node: the proposed victims, and all pods in order of importance. */
interface ProposedOnNode {
  readonly victims: readonly PlacedPod[];
  readonly pods: readonly PlacedPod[];
}

/** The rules on one node. */
export interface RulesOnNode extends ProposalRules {
  /** Whether the proposed victims may not all be preempted together. */
  readonly keepsProposed?: boolean;
}

/**
 * The rules on one node: they also protect pods that may not be preempted together with the proposed victims (S2-10).
 */
export function rulesOn(rules: ProposalRules, preemptor: Pod, { victims, pods }: ProposedOnNode): RulesOnNode {
  const keep = rules.keptOn?.(preemptor);
  if (keep === undefined) return rules;
  const mayGo = ({ pod, priority }: PlacedPod): boolean =>
    priority < priorityOf(preemptor) && pod.deletion === undefined && rules.protection(pod, preemptor) === undefined;
  const others = (): readonly Pod[] =>
    pods
      .filter(mayGo)
      .map(({ pod }) => pod)
      .toReversed();
  const { keepsProposed, whyKept } = keep({ proposed: victims.map(({ pod }) => pod), others });
  return { ...rules, keepsProposed, protection: (victim, by) => rules.protection(victim, by) ?? whyKept(victim) };
}
