import { resourceLabel } from '#shared/kube/resource.ts';
import { invalidCause, invalidText, type FieldError } from './field-error.ts';
import { statusError, type StatusCause, type StatusError } from './status-error.ts';

/** The kind of object an error is about, as messages and details name it. */
export interface ErrorSubject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

function details(subject: ErrorSubject, name: string): { name?: string; group?: string; kind: string } {
  return {
    ...(name === '' ? {} : { name }),
    ...(subject.group === '' ? {} : { group: subject.group }),
    kind: subject.plural,
  };
}

/** 404 `pods "x" not found`. */
export function notFound(subject: ErrorSubject, name: string): StatusError {
  const message = `${resourceLabel(subject)} "${name}" not found`;
  return statusError({ code: 404, reason: 'NotFound', message, details: details(subject, name) });
}

/** 404 for a path that names no resource of a known group. */
export function unknownResource(): StatusError {
  const message = 'the server could not find the requested resource';
  return statusError({ code: 404, reason: 'NotFound', message, details: {} });
}

/** 409 `pods "x" already exists`. */
export function alreadyExists(subject: ErrorSubject, name: string): StatusError {
  const message = `${resourceLabel(subject)} "${name}" already exists`;
  return statusError({ code: 409, reason: 'AlreadyExists', message, details: details(subject, name) });
}

/** 409 `Operation cannot be fulfilled on pods "x": ...`. */
export function conflict(subject: ErrorSubject, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${resourceLabel(subject)} "${name}": ${why}`;
  return statusError({ code: 409, reason: 'Conflict', message, details: details(subject, name) });
}

/** The text of a lost race for an update. */
export const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** 403 `pods "x" is forbidden: ...`. */
export function forbidden(subject: ErrorSubject, name: string, why: string): StatusError {
  const message = `${resourceLabel(subject)} "${name}" is forbidden: ${why}`;
  return statusError({ code: 403, reason: 'Forbidden', message, details: details(subject, name) });
}

/** 422 with one cause per field. */
export function invalid(subject: ErrorSubject, name: string, errors: readonly FieldError[]): StatusError {
  const kind = subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`;
  const texts = errors.map(invalidText);
  const all = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  return statusError({
    code: 422,
    reason: 'Invalid',
    message: `${kind} "${name}" is invalid: ${all}`,
    details: { ...details(subject, name), kind: subject.kind, causes: errors.map(invalidCause) },
  });
}

/** 400. */
export function badRequest(message: string): StatusError {
  return statusError({ code: 400, reason: 'BadRequest', message });
}

/** 401: no token, or an unknown one. */
export function unauthorized(): StatusError {
  return statusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
}

/** 405. */
export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return statusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

/** 406: the server supports no format that the client accepts. */
export function notAcceptable(accepted: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${accepted.join(', ')}`;
  return statusError({ code: 406, reason: 'NotAcceptable', message });
}

/** 410: a resourceVersion or continue token that the bounded history no longer reaches. */
export function expired(message: string, continueToken?: string): StatusError {
  return statusError({
    code: 410,
    reason: 'Expired',
    message,
    ...(continueToken === undefined ? {} : { continueToken }),
  });
}

/** 413: a body above the limit of a request. */
export function bodyTooLarge(limitBytes: number): StatusError {
  const message = `Request entity too large: limit is ${limitBytes}`;
  return statusError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** 415. */
export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return statusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

/** 429; a `retryAfterSeconds` above zero also becomes the `Retry-After` header. */
export function tooManyRequests(
  message: string,
  retryAfterSeconds: number,
  causes: readonly StatusCause[],
): StatusError {
  const retry = retryAfterSeconds > 0 ? { retryAfterSeconds } : {};
  return statusError({ code: 429, reason: 'TooManyRequests', message, details: { ...retry, causes } });
}

/** 500 `Internal error occurred: ...`. */
export function internalError(cause: string): StatusError {
  const message = `Internal error occurred: ${cause}`;
  return statusError({
    code: 500,
    reason: 'InternalError',
    message,
    details: { causes: [{ reason: '', message: cause }] },
  });
}

/** 500 without a reason: what a Go error that is no Status becomes. */
export function untypedError(message: string): StatusError {
  return statusError({ code: 500, message });
}

/** 504. */
export function timedOut(message: string, retryAfterSeconds: number, causes: readonly StatusCause[] = []): StatusError {
  return statusError({
    code: 504,
    reason: 'Timeout',
    message,
    details: { retryAfterSeconds, ...(causes.length === 0 ? {} : { causes }) },
  });
}
