import type { Pod } from '#shared/domain/model/pod.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import { refuse, type AdmissionDecision } from './decision.ts';
import { quotaExceeded } from './quota-exceeded.ts';

/** The refusal of a pod for which a PriorityQuota has no room; `undefined` where nothing is exceeded. */
export function priorityQuotaExceeded(
  name: string,
  pod: Pod,
  [first, ...more]: readonly Excess[],
  holders: readonly string[] = [],
): AdmissionDecision | undefined {
  if (first === undefined) return undefined;
  return refuse(403, quotaExceeded({ name, where: 'over all its namespaces' }, pod, [first, ...more], holders));
}
