import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate, RejectedNode, NodeOutcome, NotTried, StillRefused } from './node-outcome.ts';

const NOT_HELPFUL = ['Preemption is not helpful for scheduling'];
const NO_VICTIMS = ['No preemption victims found for incoming pod'];
const BUDGET = ['a disruption budget would be broken'];

/** The texts that Kubernetes counts over the nodes (the one on hard budgets is ours). */
export function reasonsOf(rejected: RejectedNode): readonly string[] {
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

/** Why a node is a candidate, or why not. */
export function becauseOf(outcome: NodeOutcome): Because {
  const { kind: code, node } = outcome;
  switch (outcome.kind) {
    case 'candidate':
      return becauseOfCandidate(outcome);
    case 'notTried':
      return becauseOfNotTried(outcome);
    case 'noLowerPods':
      return { code, text: `no pod on ${node} may be preempted`, facts: { node } };
    case 'stillRefused':
      return becauseOfRefusal(outcome);
    case 'overBudget': {
      const { budgetViolations } = outcome;
      const text = `disruption budgets keep ${budgetViolations} of the pods that would have to leave ${node}`;
      return { code, text, facts: { node, budgetViolations } };
    }
  }
}

function becauseOfCandidate({ kind, node, victims, budgetViolations, topPriority }: Candidate): Because {
  const names = victims.map(({ pod }) => `${pod.namespace}/${pod.name}`).join(', ');
  return {
    code: kind,
    text: `the pod fits on ${node} once ${names} left, ${budgetViolations} of them kept by a disruption budget`,
    facts: { node, victims: victims.length, budgetViolations, topPriority },
  };
}

function becauseOfNotTried({ kind, node, refusal }: NotTried): Because {
  const why = refusal?.reasons.join(', ') ?? 'the pod asks for other nodes by name';
  const facts = { node, filter: refusal?.filter ?? 'NodeAffinity' };
  return { code: kind, text: `no removal of pods can help on ${node}: ${why}`, facts };
}

function becauseOfRefusal({ kind, node, refusal, removed }: StillRefused): Because {
  const text = `${node} refuses the pod even without its ${removed} lower pods: ${refusal.reasons.join(', ')}`;
  return { code: kind, text, facts: { node, filter: refusal.filter, removed } };
}
