import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import { displayName, forbidden } from '#shared/domain/model/api-refusal.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import { isTerminating } from './scopes.ts';

/** A request about a pod. `subresource` is empty for the pod itself. */
export type QuotaRequest =
  | { readonly operation: 'CREATE'; readonly subresource: string; readonly pod: Pod }
  | { readonly operation: 'UPDATE'; readonly subresource: string; readonly pod: Pod; readonly oldPod: Pod };

/**
 * Whether quotas look at a request: creation, resize, and updates that flip Terminating (oddity K8).
 * `pkg/quota/v1/evaluator/core/pods.go` Handles.
 */
export function concernsQuota(request: QuotaRequest): boolean {
  if (request.operation === 'CREATE') return request.subresource === '';
  if (request.subresource === 'resize') return true;
  return request.subresource === '' && isTerminating(request.oldPod) !== isTerminating(request.pod);
}

/** 403, naming the pod. */
export function refusePod(pod: Pod, why: string): ApiRefusal {
  return forbidden('pods', displayName(pod), why);
}
