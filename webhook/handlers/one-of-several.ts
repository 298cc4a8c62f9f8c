import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';

/**
 * Marks an answer that is not the only one of its webhook entry for one API request: an allowed mutation, which may be
 * followed by a reinvocation, or one object of a deleted collection.
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
