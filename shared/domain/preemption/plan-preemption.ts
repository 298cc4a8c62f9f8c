import type { Because } from '#shared/domain/model/because.ts';
import type { ClusterSnapshot } from '#shared/domain/model/cluster-snapshot.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { chooseNode, type Criterion } from './choose-node.ts';
import { barToPreemption, type Bar } from './eligibility.ts';
import { examineNodes, type Examined } from './examine-nodes.ts';
import { reasonsOf } from './explain-outcome.ts';
import type { Candidate, Dismissal, NodeOutcome } from './node-outcome.ts';
import { countReasons, reasonsText, type ReasonCounts } from './reasons-text.ts';
import { prepareScreening, type Screening } from './screening.ts';
import { victimsOnNode, type MayTake } from './victims-on-node.ts';

export interface PreemptionOptions {
  /** Which pods may be taken; all of lower priority unless given. */
  readonly mayTake?: MayTake;
  /** `Hard` rules out nodes where a disruption budget would be broken; unless given, others are only preferred. */
  readonly budgets?: 'BestEffort' | 'Hard';
}

interface Outcomes {
  readonly candidates: readonly Candidate[];
  readonly dismissals: readonly Dismissal[];
}

/** What to do for a pod; `unschedulable` and `message` are Kubernetes' texts on why it fits nowhere and takes nobody. */
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
      readonly dismissals: readonly Dismissal[];
      readonly because: Because;
    }
  | {
      readonly kind: 'preempt';
      readonly unschedulable: string;
      readonly candidates: readonly Candidate[];
      readonly dismissals: readonly Dismissal[];
      /** Every node that Kubernetes may take, by name; the first is ours. */
      readonly best: readonly string[];
      readonly because: Because;
    };

const MERITS: Readonly<Record<Criterion, string>> = {
  onlyCandidate: 'it is the only one',
  fewestBudgetViolations: 'it breaks the fewest disruption budgets',
  lowestTopPriority: 'its most important victim has the lowest priority',
  smallestPrioritySum: 'the priorities of its victims have the smallest sum',
  fewestVictims: 'it has the fewest victims',
  latestStart: 'its most important victims started last',
  nodeName: 'it is the first by name among equals',
};

/**
 * Plans the preemption of lower pods for one that fits on no node. Every node is tried, and the snapshot stays as it is.
 * `pkg/scheduler/framework/preemption/preemption.go` Preempt.
 */
export function planPreemption(snapshot: ClusterSnapshot, pod: Pod, options: PreemptionOptions = {}): PreemptionPlan {
  const screening = prepareScreening(snapshot, pod);
  const examination = examineNodes(screening);
  if (examination.kind === 'fits') return fits(examination.nodes);
  const bar = barToPreemption(screening, examination.examined);
  if (bar !== undefined) return notEligible(examination.text, bar);
  const { candidates, dismissals } = tryNodes(screening, examination.examined, options);
  if (candidates.length === 0) return noCandidate(examination.text, dismissals);
  return preempt(examination.text, candidates, dismissals);
}

function tryNodes(screening: Screening, examined: readonly Examined[], options: PreemptionOptions): Outcomes {
  const candidates: Candidate[] = [];
  const dismissals: Dismissal[] = [];
  for (const each of examined) {
    const outcome = tryNode(screening, each, options);
    if (outcome.kind === 'candidate') candidates.push(outcome);
    else dismissals.push(outcome);
  }
  return { candidates, dismissals };
}

function tryNode(screening: Screening, { entry, refusal }: Examined, options: PreemptionOptions): NodeOutcome {
  if (refusal?.mayBeHelped !== true) return { kind: 'notTried', node: entry.node.name, refusal };
  return withinBudgets(victimsOnNode(screening, entry, options.mayTake), options);
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

function notEligible(unschedulable: string, { code, text }: Bar): PreemptionPlan {
  return { kind: 'notEligible', unschedulable, message: `preemption: ${text}`, because: { code, text, facts: {} } };
}

function noCandidate(unschedulable: string, dismissals: readonly Dismissal[]): PreemptionPlan {
  const counts: ReasonCounts = new Map();
  for (const dismissal of dismissals) countReasons(counts, reasonsOf(dismissal));
  const text = dismissals.length === 0 ? 'no nodes available' : reasonsText(dismissals.length, counts);
  const because = { code: 'noCandidate', text, facts: { nodes: dismissals.length } };
  return { kind: 'noCandidate', unschedulable, message: `preemption: ${text}`, dismissals, because };
}

function preempt(
  unschedulable: string,
  candidates: readonly Candidate[],
  dismissals: readonly Dismissal[],
): PreemptionPlan {
  const { best, decidedBy } = chooseNode(candidates);
  const because = {
    code: decidedBy,
    text: `${best[0] ?? ''} was chosen among ${candidates.length} candidates: ${MERITS[decidedBy]}`,
    facts: { node: best[0] ?? '', candidates: candidates.length, dismissals: dismissals.length, equals: best.length },
  };
  return { kind: 'preempt', unschedulable, candidates, dismissals, best, because };
}
