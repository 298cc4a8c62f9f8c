import { protectionOf } from '#shared/domain/eviction/protection.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { because } from './admission-code.ts';
import { allow, refuse, type AdmissionDecision } from './decision.ts';

/** Somebody's wish to remove a pod, by eviction or deletion. */
export interface Disruption {
  readonly kind: 'eviction' | 'deletion';
  /** `plimsoll`: one of our own accounts. `scheduler`: kube-scheduler, which preempts by deleting. */
  readonly caller: 'plimsoll' | 'scheduler' | 'other';
  readonly pod: Pod;
  /** The precondition that the caller gave. */
  readonly expectedUid: string | undefined;
  readonly gracePeriodSeconds: number | undefined;
  /** What the pod's owner asked for, on the pod or its class. */
  readonly wishes: OwnerWishes;
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority the wish never to be evicted counts. */
  readonly optOutCeiling: number;
}

export interface OwnerWishes {
  readonly mayBeEvicted: boolean;
  readonly mayBePreempted: boolean;
}

const ASK_AGAIN_SECONDS = 5;

/**
 * Whether a pod may be removed. Our own accounts are held to the laws they follow anyway (design.md section 11), the
 * scheduler to the owner's wish; everybody else is allowed and recorded. Nothing is counted: one deletion is asked
 * about up to three times (real-kubernetes.md 5.4).
 */
export function decideDisruption(disruption: Disruption): AdmissionDecision {
  switch (disruption.caller) {
    case 'plimsoll':
      return ownLaws(disruption);
    case 'scheduler':
      return preemption(disruption);
    case 'other':
      return accepted(disruption);
  }
}

function ownLaws(disruption: Disruption): AdmissionDecision {
  const { kind, pod, expectedUid, gracePeriodSeconds, wishes } = disruption;
  const facts = factsOf(disruption);
  if (kind === 'deletion')
    return refuse(
      403,
      because('DisruptionUnwanted', 'Plimsoll removes pods by eviction and never deletes them', facts),
    );
  if (expectedUid !== pod.uid) {
    const text = `the eviction must name the UID of the pod it means; it names \`${expectedUid ?? ''}\`, and this pod is \`${pod.uid}\``;
    return refuse(409, because('DisruptionOfOtherPod', text, facts));
  }
  if (gracePeriodSeconds !== undefined && gracePeriodSeconds <= 0) {
    const text = `the eviction must leave the pod time to end, not gracePeriodSeconds ${gracePeriodSeconds}`;
    return refuse(403, because('DisruptionUnwanted', text, { ...facts, gracePeriodSeconds }));
  }
  const protection = protectionOf(pod, { ...disruption, wantsToStay: () => !wishes.mayBeEvicted });
  if (protection !== undefined) return refuse(403, because('DisruptionOfProtectedPod', protection.text, facts));
  return accepted(disruption);
}

/** Refused with 429: to 403 kube-scheduler answers by asking 36 times a second (real-kubernetes.md 5.5). */
function preemption(disruption: Disruption): AdmissionDecision {
  if (disruption.kind === 'eviction' || disruption.wishes.mayBePreempted) return accepted(disruption);
  const text = "the pod's owner asked that it never be preempted";
  return {
    kind: 'refused',
    code: 429,
    because: because('DisruptionUnwanted', text, factsOf(disruption)),
    warnings: [],
    retryAfterSeconds: ASK_AGAIN_SECONDS,
  };
}

function accepted(disruption: Disruption): AdmissionDecision {
  return allow(because('DisruptionAccepted', `the ${disruption.kind} is nobody's to stop`, factsOf(disruption)));
}

function factsOf({ kind, caller, pod }: Disruption) {
  return { kind, caller, namespace: pod.namespace, name: pod.name, uid: pod.uid, priority: pod.spec.priority ?? 0 };
}
