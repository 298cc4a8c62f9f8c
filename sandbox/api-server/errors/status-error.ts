/** A `meta/v1` Status that says why a request failed. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Failure';
  readonly message: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** Ends a request with a Status; the one handler of the server turns it into the answer. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message);
    this.name = 'StatusError';
    this.status = status;
  }
}

interface Failure {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: StatusDetails;
  readonly continueToken?: string;
}

/** Makes the error; `reason` is left out where Kubernetes leaves it out. */
export function statusError({ code, reason, message, details, continueToken }: Failure): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: continueToken === undefined ? {} : { continue: continueToken },
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** A path that belongs to no group the server knows: answered in plain text, as the real server does. */
export class UnknownPathError extends Error {
  override readonly name = 'UnknownPathError';
}
