import type { Because } from '#shared/domain/model/because.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Candidate } from '#shared/domain/preemption/victims/node-outcome.ts';
import { ruledOutReason } from './explain-ruled-out.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { RuledOutNode, Simulation } from './simulate-preemption.ts';

type Preempts = Extract<Simulation, { kind: 'preempts' }>;

/** No explanation grows with the cluster. */
const MOST = 10;

/**
 * Why the most important victim goes although pods of lower priority exist: for each node with such a pod whether the
 * preemptor does not fit there, or a disruption budget protects the pod; the nodes with the lowest pods first, ten at
 * most. Mechanism S1-25.
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
    .slice(0, MOST)
    .map(({ because }) => because);
}

interface Explained {
  readonly priority: number;
  readonly because: Because;
}

/** Another candidate whose victims are lower is not chosen only for its budgets, which are compared first. */
function lowestVictim(
  { node, victims, topPriority, budgetViolations }: Candidate,
  chosen: Candidate,
): Explained | undefined {
  const isPassedOver = topPriority < chosen.topPriority && budgetViolations > chosen.budgetViolations;
  const lowest = victims.at(-1);
  return isPassedOver && lowest !== undefined ? becauseOfBudget(lowest, node) : undefined;
}

/** The least important pod of a node that is ruled out. */
function lowestOn(
  { snapshot, ...state }: PrefilterState,
  ruledOut: RuledOutNode,
  below: number,
): Explained | undefined {
  const lowest = snapshot.nodes.get(ruledOut.node)?.occupancy.pods.at(-1);
  if (lowest === undefined || lowest.priority >= below) return undefined;
  const isBudget =
    ruledOut.kind === 'overBudget' || (ruledOut.kind === 'takenAway' && ruledOut.because.code === 'OverBudget');
  if (isBudget) return becauseOfBudget(lowest, ruledOut.node);
  return becauseOfNode(lowest, ruledOut.node, ruledOutReason({ snapshot, ...state }, ruledOut));
}

/** Lower pods that stay on the chosen node itself. */
function stayingOn(snapshot: ClusterSnapshot, { node, victims, topPriority }: Candidate): readonly Explained[] {
  const staying = snapshot.nodes.get(node)?.occupancy.pods.filter((each) => each.priority < topPriority) ?? [];
  return staying
    .filter((each) => !victims.includes(each))
    .slice(-MOST)
    .map((each) => (isKeptByBudget(each) ? becauseOfBudget(each, node) : becauseOfNeed(each, node)));
}

function isKeptByBudget({ budgets }: PlacedPod): boolean {
  return budgets.some(({ budget }) => budget.disruptionsAllowed <= 0);
}

function becauseOfBudget(placed: PlacedPod, node: string): Explained {
  return explained(placed, node, { code: 'BudgetProtected', why: 'a disruption budget protects it' });
}

function becauseOfNode(placed: PlacedPod, node: string, reason: string): Explained {
  return explained(placed, node, { code: 'NodeDidNotFit', why: `the pod cannot go to that node: ${reason}` });
}

function becauseOfNeed(placed: PlacedPod, node: string): Explained {
  return explained(placed, node, { code: 'RemovalNotNeeded', why: 'its removal is not needed to make room' });
}

interface Cause {
  readonly code: string;
  readonly why: string;
}

function explained({ pod, priority }: PlacedPod, node: string, { code, why }: Cause): Explained {
  const name = `${pod.namespace}/${pod.name}`;
  const text = `pod ${name} on ${node} has lower priority (${priority}), but ${why}`;
  return { priority, because: { code, text, facts: { node, pod: name, priority } } };
}
