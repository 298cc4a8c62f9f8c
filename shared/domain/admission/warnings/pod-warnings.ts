import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import { areAllZero } from '#shared/domain/quantity/amounts.ts';
import { PREEMPT_LOWER_PRIORITY, PREEMPT_NEVER } from '#shared/domain/priority/priority-class.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { classQuotasOf } from '#shared/domain/admission/rules/class-quotas.ts';
import { affinityWarnings } from './affinity-warnings.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/** A longer grace period than this is warned of. */
export const LONG_GRACE_SECONDS = 600;

/** Warnings for the requester about a pod that is allowed but probably not as intended. */
export function podWarnings(request: PodRequest, cluster: ClusterState): readonly string[] {
  return [
    ...request.wishMistakes,
    ...lintGracePeriod(request, cluster),
    ...lintUnusedRoom(request, cluster),
    ...affinityWarnings(request, cluster),
  ];
}

/** A preemptor waits for its victim's whole grace period (S1-16). */
function lintGracePeriod({ pod }: PodRequest, { classes }: ClusterState): readonly string[] {
  const { terminationGracePeriodSeconds: seconds = 0, priority = 0 } = pod.spec;
  if (seconds <= LONG_GRACE_SECONDS) return [];
  const [preemptor] = [...classes.values()]
    .filter(({ value, preemptionPolicy }) => value > priority && preemptionPolicy === PREEMPT_LOWER_PRIORITY)
    .sort((a, b) => a.value - b.value || byName(a, b));
  return preemptor === undefined ? [] : [PHRASES.longGracePeriod(priority, preemptor.name, seconds)];
}

/** An unused quota suggests free room, but a pod that never preempts cannot take it from other pods. */
function lintUnusedRoom({ pod }: PodRequest, cluster: ClusterState): readonly string[] {
  const { priorityClassName, preemptionPolicy } = pod.spec;
  if (preemptionPolicy !== PREEMPT_NEVER || priorityClassName === undefined) return [];
  const unused = classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).find(({ used }) => areAllZero(used));
  return unused === undefined ? [] : [PHRASES.neverPreemptsInQuota(priorityClassName, unused.name)];
}
