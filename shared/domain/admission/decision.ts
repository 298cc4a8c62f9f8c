import type { Because } from '#shared/domain/model/because.ts';

/** The three priority fields of a pod, always set together. */
export interface PriorityFields {
  readonly priorityClassName: string;
  readonly priority: number;
  readonly preemptionPolicy: string;
}

/** Of an answer that the same entry may follow with another one to the same API request. */
type OneOf = 'mutations' | 'items';

export interface Allowed {
  readonly kind: 'allowed';
  readonly because: Because;
  /** Sentences that the person who asked is shown. */
  readonly warnings: readonly string[];
  /** What the pod must say instead of what it says; `undefined` changes nothing. */
  readonly change: PriorityFields | undefined;
  readonly oneOf?: OneOf;
}

export interface Refused {
  readonly kind: 'refused';
  /** HTTP status that the client sees. */
  readonly code: 400 | 403 | 409 | 413 | 429;
  readonly because: Because;
  readonly warnings: readonly string[];
  /** With 429: when asking again makes sense. */
  readonly retryAfterSeconds?: number;
  /** What programs tell refusals apart by, beside the status. */
  readonly causes?: readonly { readonly reason: string; readonly message: string }[];
  readonly oneOf?: OneOf;
  /** Why it stands although it could not be confirmed, for the end of the message; it differs from one time to the next. */
  readonly unconfirmed?: string;
}

/** The answer to an admission request; a refusal's message is the text of its `because`. */
export type AdmissionDecision = Allowed | Refused;

/** Allowed as it is. */
export function allow(because: Because, warnings: readonly string[] = []): Allowed {
  return { kind: 'allowed', because, warnings, change: undefined };
}

/** Refused for good: the same request again would be refused again. */
export function refuse(code: 400 | 403 | 409 | 413, because: Because, warnings: readonly string[] = []): Refused {
  return { kind: 'refused', code, because, warnings };
}

/** The decision of a webhook in `DryRun`: what would be refused is let in with a warning. */
export function asDryRun(decision: AdmissionDecision): AdmissionDecision {
  if (decision.kind === 'allowed') return decision;
  return allow(decision.because, [...decision.warnings, `(dry run) ${decision.because.text}`]);
}
