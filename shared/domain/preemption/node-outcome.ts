import type { Because } from '#shared/domain/model/because.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { Refusal } from './refusal.ts';
import type { VictimSearch } from './victims-on-node.ts';

/** A node on which the pod would fit once the victims are gone. */
export interface Candidate {
  readonly kind: 'candidate';
  readonly node: string;
  /** At least one, in order of importance. */
  readonly victims: readonly PlacedPod[];
  /** How many victims their disruption budgets would keep. */
  readonly budgetViolations: number;
  readonly because: Because;
}

/** A node on which preemption does not help. */
export interface Dismissal {
  readonly kind: 'dismissal';
  readonly node: string;
  /** The texts that Kubernetes counts and prints. */
  readonly reasons: readonly string[];
  readonly because: Because;
}

export type NodeOutcome = Candidate | Dismissal;

/** Whether a broken budget rules a node out, or only speaks against it as in Kubernetes. */
export type BudgetRule = 'BestEffort' | 'Hard';

const NOT_HELPFUL = 'Preemption is not helpful for scheduling';
const NO_VICTIMS = 'No preemption victims found for incoming pod';
const BUDGET = 'a disruption budget would be broken';

/** A node that was not tried, as no removal of pods could help there. */
export function notTried(node: string, refusal: Refusal | undefined): Dismissal {
  const filter = refusal?.filter ?? 'NodeAffinity';
  const why = refusal?.reasons.join(', ') ?? 'the pod names other nodes';
  return dismissal(node, [NOT_HELPFUL], {
    code: 'notTried',
    text: `removing pods from ${node} cannot help: ${why}`,
    facts: { node, filter },
  });
}

/** What the search for victims means for the node. */
export function outcomeOf(node: string, search: VictimSearch, budgets: BudgetRule): NodeOutcome {
  switch (search.kind) {
    case 'noLowerPods':
      return dismissal(node, [NO_VICTIMS], {
        code: 'noLowerPods',
        text: `nobody on ${node} may be taken`,
        facts: { node },
      });
    case 'stillRefused':
      return dismissal(node, search.reasons, {
        code: 'stillRefused',
        text: `${node} refuses the pod even without its ${search.removed} lower pods: ${search.reasons.join(', ')}`,
        facts: { node, removed: search.removed },
      });
    case 'victims':
      return budgets === 'Hard' && search.budgetViolations > 0 ? overBudget(node, search) : candidate(node, search);
  }
}

type Victims = Extract<VictimSearch, { kind: 'victims' }>;

function candidate(node: string, { victims, budgetViolations }: Victims): Candidate {
  return {
    kind: 'candidate',
    node,
    victims,
    budgetViolations,
    because: {
      code: 'victimsMakeRoom',
      text: `${node} fits the pod once ${victims.length} lower pods are gone, ${budgetViolations} against a budget`,
      facts: { node, victims: victims.length, budgetViolations, topPriority: victims[0]?.priority ?? 0 },
    },
  };
}

function overBudget(node: string, { budgetViolations }: Victims): Dismissal {
  return dismissal(node, [BUDGET], {
    code: 'budget',
    text: `on ${node} ${budgetViolations} victims are kept by their disruption budgets`,
    facts: { node, budgetViolations },
  });
}

function dismissal(node: string, reasons: readonly string[], because: Because): Dismissal {
  return { kind: 'dismissal', node, reasons, because };
}
