import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { WEBHOOK_PATHS } from '#shared/kube/webhook-configurations.ts';

/**
 * Marks an answer after which the same entry may be asked again within one API request: a mutation, which another
 * round and the validating phase follow unless it is refused, or one object of a collection that is deleted.
 */
export function markOneOfSeveral(
  path: string,
  { operation, name }: AdmissionRequest,
  decision: AdmissionDecision,
): AdmissionDecision {
  if (path === WEBHOOK_PATHS.mutate)
    return decision.kind === 'refused' ? decision : { ...decision, oneOf: 'mutations' };
  return operation === 'DELETE' && name === '' ? { ...decision, oneOf: 'items' } : decision;
}
