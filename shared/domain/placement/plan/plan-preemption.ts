import type { Because } from '#shared/domain/base/because.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type Pod, isPreempted } from '#shared/domain/pod/pod.ts';
import {
  type NodeCandidate,
  chooseNode,
  type Criterion,
  type ChosenNode,
  type NodeOutcome,
  type RejectedNode,
} from '#shared/domain/placement/victims/choose-node.ts';
import {
  countReasons,
  type Examined,
  examineNodes,
  type ReasonCounts,
  reasonsText,
} from '#shared/domain/placement/trial/examine-nodes.ts';
import { prefilter, type PrefilterState } from '#shared/domain/placement/trial/prefilter-state.ts';
import { type MayTake, victimsOnNode } from '#shared/domain/placement/victims/victims-on-node.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

export interface PreemptionOptions {
  /** Which pods may be taken; all of lower priority unless given. */
  readonly mayTake?: MayTake;
  /** `Hard` rules out nodes where a disruption budget would be violated; by default, other nodes are only preferred. */
  readonly budgets?: 'BestEffort' | 'Hard';
}

interface Outcomes {
  readonly candidates: readonly NodeCandidate[];
  readonly rejected: readonly RejectedNode[];
}

/**
 * What to do for a pod; `unschedulable` and `message` are Kubernetes' texts about why it fits nowhere and preempts no
 * pod.
 */
export type PreemptionPlan =
  | { readonly kind: 'fits'; readonly nodes: readonly string[]; readonly because: Because }
  | {
      readonly kind: 'notEligible';
      readonly unschedulable: string;
      readonly message: string;
      readonly because: Because;
    }
  | {
      readonly kind: 'noCandidate';
      readonly unschedulable: string;
      readonly message: string;
      readonly rejected: readonly RejectedNode[];
      readonly because: Because;
    }
  | {
      readonly kind: 'preempt';
      readonly unschedulable: string;
      readonly candidates: readonly NodeCandidate[];
      readonly rejected: readonly RejectedNode[];
      /** Every node that Kubernetes may choose, by name; we choose the first. */
      readonly best: readonly string[];
      readonly because: Because;
    };

const MERITS: Readonly<Record<Exclude<Criterion, 'onlyCandidate'>, string>> = {
  fewestBudgetViolations: 'it breaks the fewest disruption budgets',
  lowestTopPriority: 'its most important victim has the lowest priority',
  smallestPrioritySum: 'the priorities of its victims have the smallest sum',
  fewestVictims: 'it has the fewest victims',
  latestStart: 'its most important victims started last',
  nodeName: 'it is the first by name among equals',
};

/**
 * Plans the preemption of lower pods for a pod that fits on no node. Tries every node; the snapshot is not changed.
 * `pkg/scheduler/framework/preemption/preemption.go` Preempt.
 */
export function planPreemption(snapshot: ClusterSnapshot, pod: Pod, options: PreemptionOptions = {}): PreemptionPlan {
  const state = prefilter(snapshot, pod);
  const examination = examineNodes(state);
  if (examination.kind === 'fits') return fits(examination.nodes);
  const ineligible = ineligibleReason(state, examination.examined);
  if (ineligible !== undefined) return notEligible(examination.text, ineligible);
  const { candidates, rejected } = tryNodes(state, examination.examined, options);
  if (candidates.length === 0) return noCandidate(examination.text, rejected);
  return preempt(examination.text, candidates, rejected);
}

function tryNodes(state: PrefilterState, examined: readonly Examined[], options: PreemptionOptions): Outcomes {
  const candidates: NodeCandidate[] = [];
  const rejected: RejectedNode[] = [];
  for (const each of examined) {
    const outcome = tryNode(state, each, options);
    if (outcome.kind === 'candidate') candidates.push(outcome);
    else rejected.push(outcome);
  }
  return { candidates, rejected };
}

function tryNode(state: PrefilterState, { entry, refusal }: Examined, options: PreemptionOptions): NodeOutcome {
  if (refusal?.isResolvable !== true) return { kind: 'notTried', node: entry.node.name, refusal };
  return withinBudgets(victimsOnNode(state, entry, { mayTake: options.mayTake }), options);
}

function withinBudgets(outcome: NodeOutcome, { budgets }: PreemptionOptions): NodeOutcome {
  if (budgets !== 'Hard' || outcome.kind !== 'candidate' || outcome.budgetViolations === 0) return outcome;
  return { kind: 'overBudget', node: outcome.node, budgetViolations: outcome.budgetViolations };
}

function fits(nodes: readonly string[]): PreemptionPlan {
  const because = {
    code: 'fits',
    text: `the pod fits on ${nodes.length} nodes as they are`,
    facts: { nodes: nodes.length },
  };
  return { kind: 'fits', nodes, because };
}

function notEligible(unschedulable: string, { code, text }: IneligibleReason): PreemptionPlan {
  return { kind: 'notEligible', unschedulable, message: `preemption: ${text}`, because: { code, text, facts: {} } };
}

function noCandidate(unschedulable: string, rejected: readonly RejectedNode[]): PreemptionPlan {
  const counts: ReasonCounts = new Map();
  for (const each of rejected) countReasons(counts, reasonsOf(each));
  const text = rejected.length === 0 ? 'no nodes available' : reasonsText(rejected.length, counts);
  const because = { code: 'noCandidate', text, facts: { nodes: rejected.length } };
  return { kind: 'noCandidate', unschedulable, message: `preemption: ${text}`, rejected, because };
}

function preempt(
  unschedulable: string,
  candidates: readonly NodeCandidate[],
  rejected: readonly RejectedNode[],
): PreemptionPlan {
  const choice = chooseNode(candidates);
  const because = becauseOfChoice(choice, candidates.length, rejected.length);
  return { kind: 'preempt', unschedulable, candidates, rejected, best: choice.best, because };
}

/** What distinguishes the chosen node from the other candidates. */
export function becauseOfChoice({ best, decidedBy }: ChosenNode, candidates: number, rejected: number): Because {
  const [node = ''] = best;
  const text =
    decidedBy === 'onlyCandidate'
      ? `${node} is the only node where preemption makes room`
      : `${node} was chosen among ${candidates} candidates: ${MERITS[decidedBy]}`;
  return { code: decidedBy, text, facts: { node, candidates, rejected, equals: best.length } };
}

/** Why a pod may not preempt at all. */
interface IneligibleReason {
  readonly code: 'neverPreempts' | 'victimsStillTerminating';
  /** Kubernetes' text. */
  readonly text: string;
}

const NEVER: IneligibleReason = { code: 'neverPreempts', text: 'not eligible due to preemptionPolicy=Never.' };

const TERMINATING: IneligibleReason = {
  code: 'victimsStillTerminating',
  text: 'not eligible due to a terminating pod on the nominated node.',
};

/**
 * Why the pod may not preempt, if it may not: its policy, or earlier victims that are still terminating on its
 * nominated node, unless removing pods from that node cannot help. `plugins/defaultpreemption/default_preemption.go`
 * PodEligibleToPreemptOthers.
 */
function ineligibleReason(state: PrefilterState, examined: readonly Examined[]): IneligibleReason | undefined {
  if (state.pod.spec.preemptionPolicy === 'Never') return NEVER;
  const name = state.pod.status.nominatedNodeName ?? '';
  const nominated = name === '' ? undefined : examined.find(({ entry }) => entry.node.name === name);
  if (nominated?.refusal?.isResolvable !== true) return undefined;
  return nominated.entry.occupancy.pods.some((placed) => isLeavingFor(placed, state)) ? TERMINATING : undefined;
}

function isLeavingFor({ pod, priority }: PlacedPod, state: PrefilterState): boolean {
  return priority < state.priority && pod.deletion !== undefined && isPreempted(pod);
}

const NOT_HELPFUL = ['Preemption is not helpful for scheduling'];
const NO_VICTIMS = ['No preemption victims found for incoming pod'];
const BUDGET = ['a disruption budget would be broken'];

/** The texts that Kubernetes counts over the nodes (the one on hard budgets is ours). */
function reasonsOf(rejected: RejectedNode): readonly string[] {
  switch (rejected.kind) {
    case 'notTried':
      return NOT_HELPFUL;
    case 'noLowerPods':
      return NO_VICTIMS;
    case 'stillRefused':
      return rejected.refusal.reasons;
    case 'overBudget':
      return BUDGET;
  }
}
