import { because } from '#shared/domain/admission/admission-code.ts';
import { refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';

/** The refusal of an object that cannot be decoded; `where` is the field of the request that contains it. */
export function malformed(
  where: 'object' | 'oldObject',
  { field, message }: { readonly field: string; readonly message: string },
): AdmissionDecision {
  const path = field === '' ? where : `${where}.${field}`;
  return refuse(400, because('MalformedRequest', `${path}: ${message}`, { field: path }));
}

/** The refusal of a resource that this path does not handle: a rule of the webhook configuration is wrong. */
export function unexpectedResource({ resource, subresource }: AdmissionRequest, expected: string): AdmissionDecision {
  const given = subresource === '' ? resource : `${resource}/${subresource}`;
  return refuse(
    400,
    because('UnknownResource', `request.resource: expected ${expected}, got "${given.slice(0, 100)}"`),
  );
}
