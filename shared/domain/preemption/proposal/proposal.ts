import type { Because } from '#shared/domain/base/because.ts';
import type { RunningGang } from '#shared/domain/gang/gang-cost.ts';
import { type Instant, type Pod, isDaemonSetPod } from '#shared/domain/pod/pod.ts';
import type { PrefilterState } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { IdleFor } from '#shared/domain/placement/set-aside/set-aside-room.ts';
import { type MayTake, OPTED_OUT, type VictimPreference } from '#shared/domain/placement/victims/victims-on-node.ts';
import type { NodeEntry, NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { type ClusterSnapshot, isFreshReport } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { compareCosts, costOf, type VictimsCost } from '#shared/domain/placement/victims/choose-node.ts';
import { isLastResort } from '#shared/domain/eviction/protection.ts';

/** The pods that kube-scheduler would preempt on one node. */
export interface ProposedVictims {
  readonly node: string;
  /** Empty if the pod fits without a preemption (from 1.38 on): such a node takes nothing from any pod. */
  readonly uids: readonly string[];
  /** For how many of them a disruption budget would be violated. */
  readonly budgetViolations: number;
}

/** A preemption that kube-scheduler proposes. */
export interface Proposal {
  /** The preemptor. */
  readonly pod: Pod;
  readonly proposal: readonly ProposedVictims[];
  readonly now: Instant;
  /** Absent if nominations are seen only once: each then counts as new. */
  readonly idleFor?: IdleFor;
  /** Absent if pods are seen only once: then none has waited before. */
  readonly waitedFor?: WaitedFor;
}

/** For how long the preemptor has already been made to wait on a node, in milliseconds; 0 the first time. */
export type WaitedFor = (preemptor: Pod, node: string, now: Instant) => number;

/** The rules by which a proposal is reviewed. */
export interface ProposalRules extends VictimPreference {
  /** Why `preemptor` may not preempt `victim`; `undefined` if it may. */
  readonly protection: (victim: Pod, preemptor: Pod) => Because | undefined;
  /**
   * Which pods of a node are protected from `preemptor` as a group, even if each one alone is not; none if absent or if
   * it says nothing about a preemptor.
   */
  readonly keptOn?: (preemptor: Pod) => KeepTogether<Pod> | undefined;
  /** False only if `keptOn` protects no pod of a node from any preemptor. */
  readonly mayKeepOn?: (sheet: NodeSheet) => boolean;
  /** False only if every preemptor may preempt every pod of a node; if absent, each victim is checked. */
  readonly holdsProtected?: (sheet: NodeSheet) => boolean;
  /** Nodes on which `preemptor` preempts only if it can on no other, each with the reason. */
  readonly toLeave?: (preemptor: Pod) => ReadonlyMap<string, Because>;
  /** The gangs that run: a victim that leaves one below its minimum costs all of its pods. */
  readonly gangs?: RunningGangsNow;
  /** `Hard` removes nodes on which a disruption budget would be violated. */
  readonly budgets: 'BestEffort' | 'Hard';
}

/** By UID of a member. */
export interface RunningGangsNow {
  readonly isAny: boolean;
  readonly of: (pod: Pick<Pod, 'uid'>) => RunningGang<string> | undefined;
}

/** The verdict on one node of a proposal. */
export type NodeVerdict =
  | { readonly kind: 'kept'; readonly victims: ProposedVictims }
  | {
      readonly kind: 'changed';
      readonly victims: ProposedVictims;
      readonly because: Because;
      /** Until when the pod waits there for room that frees up without a preemption. */
      readonly waitsUntil?: Instant;
    }
  | { readonly kind: 'removed'; readonly node: string; readonly because: Because };

/** The verdict on a node where no pod may be preempted. */
export function removed(node: string, because: Because): NodeVerdict {
  return { kind: 'removed', node, because };
}

/** What the review of every node of one proposal needs. */
export interface ProposalReview {
  readonly state: PrefilterState;
  /** The model covers everything that the preemptor needs. */
  readonly isModelled: boolean;
  readonly rules: ProposalRules;
  readonly now: Instant;
  readonly idleFor: IdleFor;
  readonly waitedFor: WaitedFor;
}

/** Room on a node that needs no preemption. */
export interface SoonRoom {
  readonly endsAt: Instant;
  /** If the room is not free by then, it may never be. */
  readonly failsAfter: Instant;
  /** The victims to answer with: pods that are already terminating. */
  readonly victims: ProposedVictims;
}

/** A reviewed node. */
export interface NodeReview {
  readonly proposed: ProposedVictims;
  readonly verdict: NodeVerdict;
  readonly room?: SoonRoom | undefined;
}

/** Removes the nodes that the preemptor should leave to others, unless no other remains: the pod must find room. */
export function leaveNodes(
  verdicts: readonly NodeVerdict[],
  toLeave: ReadonlyMap<string, Because>,
): readonly NodeVerdict[] {
  const whyLeave = ({ node, uids }: ProposedVictims): Because | undefined =>
    uids.length === 0 ? undefined : toLeave.get(node);
  const isOther = (verdict: NodeVerdict): boolean =>
    verdict.kind !== 'removed' && whyLeave(verdict.victims) === undefined;
  if (toLeave.size === 0 || !verdicts.some(isOther)) return verdicts;
  return verdicts.map((verdict) => {
    if (verdict.kind === 'removed') return verdict;
    const because = whyLeave(verdict.victims);
    return because === undefined ? verdict : removed(verdict.victims.node, because);
  });
}

const NODES_PER_STEP = 16;

interface ComparedNode {
  readonly node: string;
  readonly cost: VictimsCost;
  readonly isUnderPressure: boolean;
  readonly overRequest: number;
}

/**
 * Among the best nodes, which kube-scheduler would distinguish only by the start times of their victims, keeps those on
 * which a threshold is met, and among these the ones with the most victims above their requests. Other nodes are not
 * changed: kube-scheduler prefers the best ones anyway.
 */
export function* preferNodes(
  verdicts: readonly NodeVerdict[],
  snapshot: ClusterSnapshot,
  now: Instant,
): Steps<readonly NodeVerdict[]> {
  const contenders = yield* collectInSteps(
    verdicts,
    (verdict) => (hasVictims(verdict) ? contender(snapshot, verdict.victims, now) : undefined),
    NODES_PER_STEP,
  );
  const [best, ...others] = contenders.toSorted(compareContenders);
  if (best === undefined) return verdicts;
  const worse = new Set(others.filter((other) => isEqualButWorse(other, best)).map(({ node }) => node));
  if (worse.size === 0) return verdicts;
  return verdicts.map((verdict) =>
    verdict.kind !== 'removed' && worse.has(verdict.victims.node)
      ? removed(verdict.victims.node, preferred(best))
      : verdict,
  );
}

function hasVictims(verdict: NodeVerdict): verdict is Exclude<NodeVerdict, { kind: 'removed' }> {
  return verdict.kind !== 'removed' && verdict.victims.uids.length > 0;
}

function contender(
  snapshot: ClusterSnapshot,
  { node, uids, budgetViolations }: ProposedVictims,
  now: Instant,
): ComparedNode {
  const facts = snapshot.pressures.get(node);
  const victims = uids.flatMap((uid) => snapshot.placedPods.get(uid) ?? []);
  const cost = costOf(victims, budgetViolations);
  if (facts === undefined || !isFreshReport(facts.observedAt, now))
    return { node, cost, isUnderPressure: false, overRequest: 0 };
  const overRequest = uids.filter((uid) => facts.overRequest.has(uid)).length;
  return { node, cost, isUnderPressure: facts.pressure !== undefined, overRequest };
}

function compareContenders(a: ComparedNode, b: ComparedNode): number {
  return compareCosts(a.cost, b.cost) || compareMerits(a, b);
}

function compareMerits(a: ComparedNode, b: ComparedNode): number {
  return Number(b.isUnderPressure) - Number(a.isUnderPressure) || b.overRequest - a.overRequest;
}

function isEqualButWorse(other: ComparedNode, best: ComparedNode): boolean {
  return compareCosts(other.cost, best.cost) === 0 && compareMerits(other, best) > 0;
}

function preferred({ node, isUnderPressure, overRequest }: ComparedNode) {
  const text = `equal victims on ${node} relieve a node under pressure or use more than they request`;
  return { code: 'PreferredElsewhere', text, facts: { node, isUnderPressure, overRequest } };
}

/**
 * Which pods of a node a DaemonSet's pod may preempt as a last resort: also those that opted out, but no other
 * protected pods. `undefined` for other preemptors, and if the node has other pods. Mechanism S2-29.
 */
export function lastResortVictims(
  { pod: preemptor, snapshot }: Pick<PrefilterState, 'pod' | 'snapshot'>,
  { occupancy }: NodeEntry,
  { protection }: ProposalRules,
): MayTake | undefined {
  const isOfDaemonSet = (pod: Pod): boolean => isDaemonSetPod(pod, snapshot.daemonSets);
  const optedOut = (pod: Pod): boolean => protection(pod, preemptor)?.code === OPTED_OUT;
  const pods = occupancy.pods.map(({ pod }) => pod);
  if (!isOfDaemonSet(preemptor) || !isLastResort(pods, { optedOut, isDaemonSetPod: isOfDaemonSet })) return undefined;
  return (pod) => optedOut(pod) || protection(pod, preemptor) === undefined;
}

/** The pods of a node. */
export interface PodsOfNode<Pod> {
  /** Those that kube-scheduler would preempt. */
  readonly proposed: readonly Pod[];
  /** All pods that other rules allow to preempt, the first to be preempted first. */
  readonly others: () => readonly Pod[];
}

/** Which pods of a node are protected. All others may be preempted together. */
export interface KeptPods<Pod> {
  /** False if the proposed pods may be preempted together: then none of them is protected. */
  readonly keepsProposed: boolean;
  /** `undefined` for a pod that may be preempted. */
  readonly whyKept: (pod: Pod) => Because | undefined;
}

/** Decides about the pods of one node as a group. */
export interface KeepTogether<Pod> {
  (pods: PodsOfNode<Pod>): KeptPods<Pod>;
}
