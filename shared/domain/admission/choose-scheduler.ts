import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { PodRequest } from './pod-request.ts';

/** What the API server writes into a pod that names no scheduler. */
export const DEFAULT_SCHEDULER = 'default-scheduler';

/** The scheduler that a policy gives to a pod. */
export interface SchedulerChoice {
  readonly schedulerName: string;
  readonly policy: string;
}

/**
 * The scheduler that the policies of a pod name, of several policies the first by name; `undefined` where none does,
 * where the pod names a scheduler of its own, and where it is on a node already.
 */
export function chooseScheduler(
  { pod, schedulerName }: PodRequest,
  policies: readonly PriorityPolicy[],
): SchedulerChoice | undefined {
  if (schedulerName !== DEFAULT_SCHEDULER || (pod.spec.nodeName ?? '') !== '') return undefined;
  const [first] = policies
    .flatMap(({ name: policy, schedulerName: given }) =>
      given === undefined ? [] : [{ policy, schedulerName: given }],
    )
    .sort((a, b) => compareTexts(a.policy, b.policy));
  return first?.schedulerName === DEFAULT_SCHEDULER ? undefined : first;
}
