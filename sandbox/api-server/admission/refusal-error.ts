import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import type { Subject } from '#sandbox/api-server/errors/errors.ts';
import { causeOfText } from '#sandbox/api-server/errors/field-error.ts';
import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';

/** A refusal of the shared decisions as a Status. */
export function refusalError(
  { code, reason, message, fieldErrors }: ApiRefusal,
  { group, plural, kind }: Subject,
  name: string,
): StatusError {
  if (reason === undefined) return statusError({ code, message });
  const subject = { name, ...(group === '' ? {} : { group }), kind: reason === 'Invalid' ? kind : plural };
  const details = { ...subject, ...(fieldErrors !== undefined && { causes: fieldErrors.map(causeOfText) }) };
  return statusError({ code, reason, message, details });
}
