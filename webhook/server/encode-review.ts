import { crc32 } from 'node:zlib';
import type { AdmissionDecision, Refused } from '#shared/domain/admission/decision.ts';
import { priorityPatch } from '#shared/kube/admission/pod-patches.ts';

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

const HASH_DIGITS = 8;

/**
 * The audit annotations of an answer; the API server prefixes them with the name of the webhook entry. When a key is
 * set twice for one API request, the API server keeps the first value and logs a warning. So only a single answer uses
 * the keys `decision` and `because`; one of several answers gets a key derived from its content, and a mutation that
 * changes nothing gets no annotation.
 */
export function auditAnnotations(decision: AdmissionDecision): Readonly<Record<string, string>> {
  const { because, oneOf } = decision;
  if (oneOf === undefined) return { decision: because.code, because: bounded(because.text) };
  if (oneOf === 'mutations' && decision.kind === 'allowed' && decision.change === undefined) return {};
  const value = bounded(`${because.code}: ${because.text}`);
  return { [`${KEYS[oneOf]}-${fingerprint(value)}`]: value };
}

const KEYS = { mutations: 'mutation', items: 'item' } as const;

function fingerprint(text: string): string {
  return crc32(text).toString(16).padStart(HASH_DIGITS, '0');
}

const MAX_CHARACTERS = 500;

/**
 * Shortens a text for an answer: the API server truncates warnings beyond 4 KiB in total, and keeps audit annotations
 * in memory.
 */
function bounded(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 1)}…`;
}
