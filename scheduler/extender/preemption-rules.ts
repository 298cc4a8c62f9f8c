import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import type { NodeSheet } from '#shared/domain/snapshot/node-entry.ts';
import { type AnnotatedClass, orRefusedByLoop, protectedFromPreemption } from '#shared/kube/annotations/annotations.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import type { PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';

/** The PriorityClasses of the cluster. */
export type Classes = Pick<Reflector<AnnotatedClass>, 'get' | 'onChange'>;

/** What is known about preemption loops. */
export type Loops = Pick<PreemptionLoops, 'mode' | 'isAny' | 'refusal' | 'toLeave'>;

/** The rules of queues that kube-scheduler has to respect. */
export type QueueRules = Required<Pick<ProposalRules, 'keptOn' | 'mayKeepOn'>>;

/** The rules that change at run time. */
export interface PreemptionRuleSources {
  readonly classes: Classes;
  readonly loops: Loops;
  readonly ownerDisruptedAt?: ProposalRules['ownerDisruptedAt'];
  readonly queues?: QueueRules | undefined;
}

/** The rules for reviewing a proposal. */
export function preemptionRules(
  { budgets, usageAware, tieBreak }: Pick<ProposalRules, 'budgets' | 'usageAware' | 'tieBreak'>,
  { classes, loops, ownerDisruptedAt, queues }: PreemptionRuleSources,
): ProposalRules {
  const optedOut = protectedFromPreemption((name) => classes.get(name));
  const holdsProtected = protectedPods(optedOut, classes);
  const kept = queues === undefined ? {} : { keptOn: queues.keptOn, mayKeepOn: queues.mayKeepOn };
  const shared = { budgets, usageAware, tieBreak, ownerDisruptedAt, ...kept };
  if (loops.mode !== 'Enforce') return { ...shared, protection: optedOut, holdsProtected };
  return {
    ...shared,
    protection: orRefusedByLoop(optedOut, loops.refusal),
    toLeave: loops.toLeave,
    holdsProtected: (sheet) => loops.isAny() || holdsProtected(sheet),
  };
}

/** Most nodes have no protected pod, so each node is inspected once until its pods or a class change. */
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

/** A preemptor without privileges: no protection yields to it. */
const ORDINARY = decodeWith(decodePod)({});
