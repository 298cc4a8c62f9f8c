import type { Because } from '#shared/domain/model/because.ts';

/** The three priority fields of a pod, always set together. */
export interface PriorityFields {
  readonly priorityClassName: string;
  readonly priority: number;
  readonly preemptionPolicy: string;
}

/** What a mutation sets. */
export interface PodChange extends PriorityFields {
  /** Absent leaves the scheduler as it is. */
  readonly schedulerName?: string;
  /** Names of nodes to prefer others to; absent leaves the node affinity as it is. */
  readonly avoidNodes?: readonly string[];
}

/** Marks an answer that may be followed by another answer of the same entry to the same API request. */
type OneOf = 'mutations' | 'items';

export interface Allowed {
  readonly kind: 'allowed';
  readonly because: Because;
  /** Sentences that the requester is shown. */
  readonly warnings: readonly string[];
  /** `undefined` changes nothing. */
  readonly change: PodChange | undefined;
  readonly oneOf?: OneOf;
}

export interface Refused {
  readonly kind: 'refused';
  /** The HTTP status that the client sees. */
  readonly code: 400 | 403 | 409 | 413 | 429;
  readonly because: Because;
  readonly warnings: readonly string[];
  /** With 429: when to retry. */
  readonly retryAfterSeconds?: number;
  /** Machine-readable causes, in addition to the status. */
  readonly causes?: readonly { readonly reason: string; readonly message: string }[];
  readonly oneOf?: OneOf;
  /** Why the refusal stands unconfirmed; appended to the message, and different each time. */
  readonly unconfirmed?: string;
}

/** The answer to an admission request; a refusal's message is the text of its `because`. */
export type AdmissionDecision = Allowed | Refused;

/** Allowed as it is. */
export function allow(because: Because, warnings: readonly string[] = []): Allowed {
  return { kind: 'allowed', because, warnings, change: undefined };
}

/** A permanent refusal: a retry would be refused again. */
export function refuse(code: 400 | 403 | 409 | 413, because: Because, warnings: readonly string[] = []): Refused {
  return { kind: 'refused', code, because, warnings };
}
