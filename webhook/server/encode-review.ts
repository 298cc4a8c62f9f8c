import type { AdmissionDecision, Refused } from '#shared/domain/admission/decision.ts';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';
import { auditAnnotations } from './audit-annotations.ts';
import { bounded } from './bounded.ts';

/** An admission answer as JSON text. `object` is the raw pod to which a change applies. */
export function encodeReview(uid: string, decision: AdmissionDecision, object: unknown): string {
  const response = {
    uid,
    allowed: decision.kind === 'allowed',
    ...(decision.warnings.length > 0 && { warnings: decision.warnings.map(bounded) }),
    ...(decision.kind === 'refused' && { status: refusalStatus(decision) }),
    ...encodePatch(decision, object),
    auditAnnotations: auditAnnotations(decision),
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

const REASONS = {
  400: 'BadRequest',
  403: 'Forbidden',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
} as const;

function refusalStatus({ code, because, retryAfterSeconds, causes, unconfirmed }: Refused) {
  const details = { ...(retryAfterSeconds !== undefined && { retryAfterSeconds }), ...(causes && { causes }) };
  return {
    status: 'Failure',
    code,
    reason: REASONS[code],
    message: unconfirmed === undefined ? because.text : `${because.text}; ${unconfirmed}`,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

function encodePatch(decision: AdmissionDecision, object: unknown) {
  if (decision.kind === 'refused' || decision.change === undefined) return {};
  const patch = priorityPatch(object, decision.change);
  if (patch.length === 0) return {};
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
}
