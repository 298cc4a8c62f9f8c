/** The outcome of a request to the API server. Expected failures are values, so that callers must handle them. */
export type Outcome<T> = Success<T> | Failure;

export interface Success<T> {
  readonly kind: 'ok';
  readonly object: T;
  /** Texts of the server's `Warning` headers. */
  readonly warnings: readonly string[];
}

/**
 * `unreachable`, `timeout` and `serverError` leave open whether a write took effect: read again before a retry. `gone`
 * means that a resourceVersion or continue token is too old.
 */
export interface Failure {
  readonly kind: FailureKind;
  /** HTTP status; absent without a response. */
  readonly status?: number;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly details?: StatusDetails;
}

/** The object of a success. Throws `cannot WHAT: MESSAGE` for a failure. */
export function expectOk<T>(outcome: Outcome<T>, what: string): T {
  if (outcome.kind === 'ok') return outcome.object;
  throw new Error(`cannot ${what}: ${outcome.message}`);
}

export type FailureKind =
  | 'notFound'
  | 'conflict'
  | 'alreadyExists'
  | 'forbidden'
  | 'unauthorized'
  | 'invalid'
  | 'tooManyRequests'
  | 'gone'
  | 'serverError'
  | 'unreachable'
  | 'timeout';

/** The parts of `details` in a Kubernetes Status that decisions read. */
export interface StatusDetails {
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number | undefined;
}

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Decodes a failure: `body` is the parsed Status if the server sent one, otherwise text. */
export function failureOf(status: number, body: unknown, retryAfterHeader?: string): Failure {
  const answer = asRecord(body);
  const details = statusDetails(answer['details']);
  const retryAfterSeconds = wholeSeconds(retryAfterHeader) ?? details.retryAfterSeconds;
  return {
    kind: failureKind(status, text(answer['reason'])),
    status,
    message: text(answer['message']) || plainText(body) || `HTTP status ${status}`,
    details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}

const KIND_BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [408, 'timeout'],
  [410, 'gone'],
  [429, 'tooManyRequests'],
]);

function failureKind(status: number, reason: string): FailureKind {
  if (status === 409) return reason === 'AlreadyExists' ? 'alreadyExists' : 'conflict';
  return KIND_BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'invalid' : 'serverError');
}

function statusDetails(raw: unknown): StatusDetails {
  const details = asRecord(raw);
  const causes = Array.isArray(details['causes']) ? details['causes'].map(statusCause) : [];
  const seconds = details['retryAfterSeconds'];
  return { causes, retryAfterSeconds: typeof seconds === 'number' && seconds > 0 ? seconds : undefined };
}

function statusCause(raw: unknown): StatusCause {
  const cause = asRecord(raw);
  return { reason: text(cause['reason']), message: text(cause['message']), field: text(cause['field']) };
}

/** `Retry-After` may also be an HTTP date; Kubernetes never sends one, so it counts as absent. */
function wholeSeconds(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A proxy's HTML page must not fill a log line. */
function plainText(body: unknown): string {
  return text(body).trim().slice(0, 300);
}
