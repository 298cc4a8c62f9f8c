import type { Pod } from '#shared/domain/pod/pod.ts';
import { preemptionProtection } from '#shared/domain/preemption/preemption-protection.ts';
import type { ProposalRules } from '#shared/domain/preemption/review-proposal.ts';
import type { AnnotatedClass } from '#shared/kube/decode/decode-priority-class.ts';
import { ownerWishes } from '#shared/kube/annotations/owner-wishes.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMESPACES);

/** The rules by which a proposal is reviewed; `classOf` finds a PriorityClass by its name. */
export function preemptionRules(
  budgets: ProposalRules['budgets'],
  classOf: (name: string) => AnnotatedClass | undefined,
): ProposalRules {
  const optedOut = ({ annotations, spec }: Pod): boolean =>
    !ownerWishes(annotations, classOf(spec.priorityClassName ?? '')?.annotations).mayBePreempted;
  const protection: ProposalRules['protection'] = (victim, preemptor) =>
    preemptionProtection(victim, preemptor, { protectedNamespaces: PROTECTED, optedOut });
  return { budgets, protection };
}
