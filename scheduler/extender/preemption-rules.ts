import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { ProposalRules } from '#shared/domain/preemption/review-proposal.ts';
import type { AnnotatedClass } from '#shared/kube/decode-priority-class.ts';
import { ownerWishes } from '#shared/kube/owner-wishes.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/wire-names.ts';
import { protectionOf } from '#shared/domain/eviction/protection.ts';

export interface PreemptionSettings {
  readonly budgets: ProposalRules['budgets'];
  /** Up to this priority a wish not to be preempted is honoured. */
  readonly optOutCeiling: number;
}

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMESPACES);

/** The rules by which a proposal is reviewed; `classOf` finds a PriorityClass by its name. */
export function preemptionRules(
  { budgets, optOutCeiling }: PreemptionSettings,
  classOf: (name: string) => AnnotatedClass | undefined,
): ProposalRules {
  const wantsToStay = ({ annotations, spec }: Pod): boolean =>
    !ownerWishes(annotations, classOf(spec.priorityClassName ?? '')?.annotations).mayBePreempted;
  const protection = (pod: Pod): Because | undefined =>
    protectionOf(pod, { protectedNamespaces: PROTECTED, optOutCeiling, wantsToStay });
  return { budgets, protection, isEnding: ({ deletion }) => deletion !== undefined };
}
