import type { Pod } from '#shared/domain/pod/pod.ts';
import { preemptionProtection } from '#shared/domain/preemption/victims/preemption-protection.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import type { AnnotatedClass } from './annotated-class.ts';
import { ownerWishes } from './owner-wishes.ts';

const PROTECTED: ReadonlySet<string> = new Set(PROTECTED_NAMESPACES);

/**
 * Which pods may not be preempted, by the annotations of pods and classes and by protected namespaces; `classOf` finds a
 * PriorityClass by its name. The extender decides by it, and `plimsoll simulate` shows it.
 */
export function protectedFromPreemption(
  classOf: (name: string) => AnnotatedClass | undefined,
): ProposalRules['protection'] {
  const optedOut = ({ annotations, spec }: Pod): boolean =>
    !ownerWishes(annotations, classOf(spec.priorityClassName ?? '')?.annotations).mayBePreempted;
  return (victim, preemptor) => preemptionProtection(victim, preemptor, { protectedNamespaces: PROTECTED, optedOut });
}

/** Adds loops of preemptions. They come first: an opt-out gives way to a DaemonSet's last resort (S2-29), a loop does not. */
export function orRefusedByLoop(
  protection: ProposalRules['protection'],
  refusal: ProposalRules['protection'],
): ProposalRules['protection'] {
  return (victim, preemptor) => refusal(victim, preemptor) ?? protection(victim, preemptor);
}
