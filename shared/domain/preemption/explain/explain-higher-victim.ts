import type { Because } from '#shared/domain/base/because.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { findObstacle, refusalOn } from '#shared/domain/placement/trial/examine-nodes.ts';
import type { PrefilterState } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { FilterRefusal } from '#shared/domain/placement/filters/node-filters.ts';
import { finish } from '#shared/domain/base/steps.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { prepareIncoming, selectsOther } from '#shared/domain/placement/filters/incoming-terms.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeCandidate } from '#shared/domain/placement/victims/choose-node.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { RuledOutNode, Simulation } from './simulate-preemption.ts';

const AFFINITY_FILTER = 'InterPodAffinity';
const OTHER_NODES_ONLY = 'the pod asks for other nodes by name';

/**
 * Why the pod does not fit on a node, in a text that is the same for all nodes with the same reason: what Kubernetes
 * says about the node, then why preemption does not help.
 */
export function ruledOutReason(state: PrefilterState, ruledOut: RuledOutNode): string {
  switch (ruledOut.kind) {
    case 'refused':
      return textOf(ruledOut.refusal);
    case 'notTried':
      return `${textOf(ruledOut.refusal)}; preemption cannot help`;
    case 'noLowerPods':
      return `${textOf(refusalAt(state, ruledOut.node))}; no pod of lower priority to preempt`;
    case 'stillRefused':
      return `${textOf(ruledOut.refusal)}, even without all pods of lower priority`;
    case 'overBudget':
      return 'a disruption budget would be broken';
    case 'removed':
      return REMOVED[ruledOut.because.code] ?? ruledOut.because.text;
  }
}

/** By the codes of the laws of queues (`shared/domain/queue/preemption-rules.ts`). */
export const KEPT_BY_QUEUES: Readonly<Record<string, string>> = {
  AboveExcess: 'a queue would be below its guarantee',
  OutsideFence: 'a pod outside the fence of its queue stands in the way',
  GiverDisabled: 'a pod of a queue that takes no part in preemption stands in the way',
  TakerDisabled: 'its queue takes no part in preemption',
};

const REMOVED: Readonly<Record<string, string>> = {
  RoomSoon: 'terminating pods already free enough; no pod is preempted',
  OverBudget: 'a disruption budget would be broken',
  ProtectedMirrorPod: 'the mirror of a static pod stands in the way',
  ProtectedOptOut: 'a pod that opted out of preemption stands in the way',
  ProtectedNamespace: 'a pod of a protected namespace stands in the way',
  ...KEPT_BY_QUEUES,
};

/**
 * The pod that keeps the incoming pod off a node although preemption does not remove it: a pod on another node (S0-3,
 * S1-21), a pod of lower priority that the incoming pod requires (S1-20), or a protected pod.
 */
export function ruledOutBecause(state: PrefilterState, ruledOut: RuledOutNode): Because | undefined {
  const entry = state.snapshot.nodes.get(ruledOut.node);
  if (entry === undefined) return undefined;
  if (ruledOut.kind === 'removed') return ruledOut.because.code in REMOVED ? ruledOut.because : undefined;
  const refusal = lastRefusal(state, ruledOut);
  if (refusal?.filter !== AFFINITY_FILTER) return undefined;
  return refusal.isResolvable ? otherNodesPod(state, entry) : lowerPartner(state, entry);
}

/** Why the pod still does not fit after preemption. */
function lastRefusal(state: PrefilterState, ruledOut: RuledOutNode): FilterRefusal | undefined {
  if (ruledOut.kind === 'noLowerPods') return refusalAt(state, ruledOut.node);
  return ruledOut.kind === 'stillRefused' || ruledOut.kind === 'refused' ? ruledOut.refusal : undefined;
}

function refusalAt(state: PrefilterState, node: string): FilterRefusal | undefined {
  const entry = state.snapshot.nodes.get(node);
  return entry === undefined ? undefined : refusalOn(state, entry);
}

function otherNodesPod({ snapshot, pod }: PrefilterState, { node }: NodeEntry): Because | undefined {
  const obstacle = findObstacle(snapshot, pod, node);
  if (obstacle === undefined) return undefined;
  const { namespace, name, spec } = obstacle.pod;
  const facts = {
    node: node.name,
    pod: `${namespace}/${name}`,
    podNode: spec.nodeName ?? '',
    priority: obstacle.priority,
  };
  const text =
    `pod ${facts.pod} on ${facts.podNode} keeps the pod off ${node.name} by anti-affinity; ` +
    'no pod is removed from one node to make room on another';
  return { code: 'BlockedFromOtherNode', text, facts };
}

function lowerPartner(state: PrefilterState, entry: NodeEntry): Because | undefined {
  const partner = findLowerPartner(state, entry);
  if (partner === undefined) return undefined;
  const { namespace, name } = partner.pod;
  const facts = { node: entry.node.name, pod: `${namespace}/${name}`, priority: partner.priority };
  const text =
    `the pod requires affinity to pod ${facts.pod} on ${facts.node}, whose priority ${facts.priority} is lower; ` +
    'preemption takes all lower pods off a node first, and then the affinity is not met';
  return { code: 'AffinityToLowerPod', text, facts };
}

function textOf(refusal: FilterRefusal | undefined): string {
  return refusal?.reasons.join(', ') ?? OTHER_NODES_ONLY;
}

/**
 * The most important pod of lower priority on a node that the incoming pod requires to be with: preemption removes
 * lower pods before it checks whether the pod fits, so the affinity is not met. For explanations. Mechanism S1-20.
 */
function findLowerPartner({ snapshot, pod, priority }: PrefilterState, entry: NodeEntry): PlacedPod | undefined {
  const incoming = finish(prepareIncoming(pod, snapshot));
  if (incoming.affinity.length === 0) return undefined;
  return entry.occupancy.pods.find(
    (placed) =>
      placed.priority < priority && incoming.affinity.every((term) => selectsOther(incoming, term, placed.pod)),
  );
}

type Preempts = Extract<Simulation, { kind: 'preempts' }>;

/** Bounds the size of an explanation, regardless of the cluster. */
const MAX_COUNTS = 10;

/**
 * Why the most important victim is preempted although pods of lower priority exist: for each node with such a pod,
 * whether the preemptor does not fit there or a disruption budget protects the pod. The nodes with the lowest pods come
 * first, ten at most. Mechanism S1-25.
 */
export function explainHigherVictim(
  state: PrefilterState,
  { chosen, candidates, ruledOut }: Preempts,
): readonly Because[] {
  const { topPriority, node } = chosen;
  const elsewhere = [
    ...candidates.filter((each) => each.node !== node).map((each) => lowestVictim(each, chosen)),
    ...ruledOut.map((each) => lowestOn(state, each, topPriority)),
  ];
  const found = [...elsewhere, ...stayingOn(state.snapshot, chosen)].filter((each) => each !== undefined);
  return found
    .toSorted((a, b) => a.priority - b.priority)
    .slice(0, MAX_COUNTS)
    .map(({ because }) => because);
}

interface ExplainedVictim {
  readonly priority: number;
  readonly because: Because;
}

/** A candidate with lower victims loses only because of its budgets, which are compared first. */
function lowestVictim(
  { node, victims, topPriority, budgetViolations }: NodeCandidate,
  chosen: NodeCandidate,
): ExplainedVictim | undefined {
  const isPassedOver = topPriority < chosen.topPriority && budgetViolations > chosen.budgetViolations;
  const lowest = victims.at(-1);
  return isPassedOver && lowest !== undefined ? becauseOfBudget(lowest, node) : undefined;
}

/** The least important pod of a node that is ruled out. */
function lowestOn(
  { snapshot, ...state }: PrefilterState,
  ruledOut: RuledOutNode,
  below: number,
): ExplainedVictim | undefined {
  const lowest = snapshot.nodes.get(ruledOut.node)?.occupancy.pods.at(-1);
  if (lowest === undefined || lowest.priority >= below) return undefined;
  const isBudget =
    ruledOut.kind === 'overBudget' || (ruledOut.kind === 'removed' && ruledOut.because.code === 'OverBudget');
  if (isBudget) return becauseOfBudget(lowest, ruledOut.node);
  return becauseOfNode(lowest, ruledOut.node, ruledOutReason({ snapshot, ...state }, ruledOut));
}

/** Lower pods that stay on the chosen node itself. */
function stayingOn(
  snapshot: ClusterSnapshot,
  { node, victims, topPriority }: NodeCandidate,
): readonly ExplainedVictim[] {
  const staying = snapshot.nodes.get(node)?.occupancy.pods.filter((each) => each.priority < topPriority) ?? [];
  return staying
    .filter((each) => !victims.includes(each))
    .slice(-MAX_COUNTS)
    .map((each) => (isKeptByBudget(each) ? becauseOfBudget(each, node) : becauseOfNeed(each, node)));
}

function isKeptByBudget({ budgets }: PlacedPod): boolean {
  return budgets.some(({ budget }) => budget.disruptionsAllowed <= 0);
}

function becauseOfBudget(placed: PlacedPod, node: string): ExplainedVictim {
  return explained(placed, node, { code: 'BudgetProtected', why: 'a disruption budget protects it' });
}

function becauseOfNode(placed: PlacedPod, node: string, reason: string): ExplainedVictim {
  return explained(placed, node, { code: 'NodeDidNotFit', why: `the pod cannot go to that node: ${reason}` });
}

function becauseOfNeed(placed: PlacedPod, node: string): ExplainedVictim {
  return explained(placed, node, { code: 'RemovalNotNeeded', why: 'its removal is not needed to make room' });
}

interface StayReason {
  readonly code: string;
  readonly why: string;
}

function explained({ pod, priority }: PlacedPod, node: string, { code, why }: StayReason): ExplainedVictim {
  const name = `${pod.namespace}/${pod.name}`;
  const text = `pod ${name} on ${node} has lower priority (${priority}), but ${why}`;
  return { priority, because: { code, text, facts: { node, pod: name, priority } } };
}

/** Nodes on which the pod does not fit for the same reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly count: number;
  /** The first ten, in the order of the snapshot. */
  readonly nodes: readonly string[];
}

const MAX_NAMED = 10;

/** Groups nodes by the reason why the pod does not fit; the most frequent reason first. */
export function groupReasons(state: PrefilterState, ruledOut: readonly RuledOutNode[]): readonly ReasonGroup[] {
  const groups = Map.groupBy(ruledOut, (each) => ruledOutReason(state, each));
  return Array.from(groups, ([reason, nodes]) => ({
    reason,
    count: nodes.length,
    nodes: nodes.slice(0, MAX_NAMED).map(({ node }) => node),
  })).toSorted((a, b) => b.count - a.count || compareTexts(a.reason, b.reason));
}
