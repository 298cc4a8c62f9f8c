import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import type { NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { protectedFromPreemption } from '#shared/kube/annotations/protected-from-preemption.ts';
import type { AnnotatedClass } from '#shared/kube/decode/decode-priority-class.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';

/** The PriorityClasses of the cluster. */
export type Classes = Pick<Reflector<AnnotatedClass>, 'get' | 'onChange'>;

/** The rules by which a proposal is reviewed; classes may change while they are in use. */
export function preemptionRules(
  { budgets, usageAware, tieBreak }: Omit<ProposalRules, 'protection' | 'holdsProtected'>,
  classes: Classes,
): ProposalRules {
  const protection = protectedFromPreemption((name) => classes.get(name));
  return { budgets, usageAware, tieBreak, protection, holdsProtected: protectedPods(protection, classes) };
}

/** Most nodes hold no protected pod, so each is looked at once, until its pods or a class change. */
function protectedPods(protection: ProposalRules['protection'], classes: Classes): (sheet: NodeSheet) => boolean {
  let answers = new WeakMap<NodeSheet, boolean>();
  classes.onChange(() => void (answers = new WeakMap()));
  return (sheet) => {
    const known = answers.get(sheet);
    if (known !== undefined) return known;
    const answer = sheet.pods.some(({ pod }) => protection(pod, ORDINARY) !== undefined);
    answers.set(sheet, answer);
    return answer;
  };
}

/** A preemptor that no protection makes way for. */
const ORDINARY = decodeWith(decodePod)({});
