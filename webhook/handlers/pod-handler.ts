import { allowFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals/invalid-request.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import type { Review } from '#webhook/server/decode-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';
import { decideThenConfirm, type Phase, type PodSources } from './decide-then-confirm.ts';

/** Handles the creation of pods; a refusal based on cached objects is checked on live ones. */
export function podHandler(sources: PodSources, phase: Phase): AdmissionHandler {
  return (review) => {
    const unexpected = notACreatedPod(review);
    if (unexpected !== undefined) return unexpected;
    const { requester, namespace } = review.request;
    const decoded = decodePodRequest(review.object, requester, namespace);
    if (!decoded.ok) return malformed('object', decoded);
    return decideThenConfirm({ review, request: decoded.value, phase }, sources);
  };
}

/**
 * Refuses anything but the creation of a pod: a webhook rule that sends it is misconfigured, which must not go
 * unnoticed.
 */
function notACreatedPod({ request }: Review): AdmissionDecision | undefined {
  const { group, resource, subresource, operation } = request;
  if (group !== '' || resource !== 'pods' || subresource !== '') return unexpectedResource(request, 'pods');
  return operation === 'CREATE' ? undefined : allowFor(MESSAGES.changesNoPriority, { operation });
}
