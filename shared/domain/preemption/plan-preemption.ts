import type { Because } from '#shared/domain/model/because.ts';
import type { ClusterSnapshot, NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { chooseNode, type Criterion } from './choose-node.ts';
import { barToPreemption, type Bar } from './eligibility.ts';
import { examineNodes } from './examine-nodes.ts';
import {
  notTried,
  outcomeOf,
  type BudgetRule,
  type Candidate,
  type Dismissal,
  type NodeOutcome,
} from './node-outcome.ts';
import { reasonsText } from './reasons-text.ts';
import type { Refusal } from './refusal.ts';
import { prepareScreening, type Screening } from './screening.ts';
import { victimsOnNode, type MayTake } from './victims-on-node.ts';

export interface PreemptionOptions {
  /** Which pods may be taken; all of lower priority unless given. */
  readonly mayTake?: MayTake;
  /** `BestEffort` unless given. */
  readonly budgets?: BudgetRule;
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

type Refusals = ReadonlyMap<string, Refusal>;

/**
 * Plans the preemption of lower pods for one that fits on no node. Every node is tried, and the snapshot stays as it is.
 * `pkg/scheduler/framework/preemption/preemption.go` Preempt.
 */
export function planPreemption(snapshot: ClusterSnapshot, pod: Pod, options: PreemptionOptions = {}): PreemptionPlan {
  const screening = prepareScreening(snapshot, pod);
  const examination = examineNodes(screening);
  if (examination.kind === 'fits') return fits(examination.nodes);
  const bar = barToPreemption(screening, examination.refusals);
  if (bar !== undefined) return notEligible(examination.text, bar);
  const outcomes = tryNodes(screening, examination.refusals, options);
  const candidates = outcomes.filter((outcome) => outcome.kind === 'candidate');
  const dismissals = outcomes.filter((outcome) => outcome.kind === 'dismissal');
  if (candidates.length === 0) return noCandidate(examination.text, dismissals);
  return preempt(examination.text, candidates, dismissals);
}

function tryNodes(screening: Screening, refusals: Refusals, options: PreemptionOptions): readonly NodeOutcome[] {
  const budgets = options.budgets ?? 'BestEffort';
  return Array.from(screening.snapshot.nodes.values(), (entry: NodeEntry) => {
    const refusal = refusals.get(entry.node.name);
    if (refusal?.mayBeHelped !== true) return notTried(entry.node.name, refusal);
    return outcomeOf(entry.node.name, victimsOnNode(screening, entry, options.mayTake), budgets);
  });
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
  const text = reasonsText(
    dismissals.length,
    dismissals.map(({ reasons }) => ({ reasons, nodes: 1 })),
  );
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

const MERITS: Readonly<Record<Criterion, string>> = {
  onlyCandidate: 'it is the only one',
  fewestBudgetViolations: 'it breaks the fewest disruption budgets',
  lowestTopPriority: 'its most important victim has the lowest priority',
  smallestPrioritySum: 'the priorities of its victims have the smallest sum',
  fewestVictims: 'it has the fewest victims',
  latestStart: 'its most important victims started last',
  nodeName: 'it is the first by name among equals',
};
