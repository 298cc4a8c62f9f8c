import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';

interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** A refusal of the shared decisions as a Status. */
export function refusalError(
  { code, reason, message }: ApiRefusal,
  { group, plural, kind }: Subject,
  name: string,
): StatusError {
  if (reason === undefined) return statusError({ code, message });
  const details = { name, ...(group === '' ? {} : { group }), kind: reason === 'Invalid' ? kind : plural };
  return statusError({ code, reason, message, details });
}
