import type { Because } from '#shared/domain/base/because.ts';
import type { SpareMove } from '#shared/domain/spare/spare-room.ts';

/** The three priority fields of a pod, always set together. */
export interface PriorityFields {
  readonly priorityClassName: string;
  readonly priority: number;
  readonly preemptionPolicy: string;
}

/** What a mutation sets. */
export interface PodChange extends PriorityFields {
  /** The rule that gave the class, to record on the pod; empty removes the record, absent leaves it unchanged. */
  readonly classRule?: string;
  /** Absent leaves the scheduler unchanged. */
  readonly schedulerName?: string;
  /** Names of nodes to avoid; absent leaves the node affinity unchanged. */
  readonly avoidNodes?: readonly string[];
  /** Requests that become requests of spare room; absent leaves them unchanged. */
  readonly spare?: SpareMove | undefined;
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

/** A rule that a pod breaks, and whether the pod is refused for it. */
export interface Violation {
  readonly because: Because;
  readonly response: 'Deny' | 'Warn';
}

/**
 * Refuses with the first violation that denies, else allows; every other violation becomes a warning. Only allowed pods
 * are checked for further warnings.
 */
export function decideByViolations(
  accepted: Because,
  violations: readonly Violation[],
  lint: () => readonly string[] = () => [],
): AdmissionDecision {
  const denying = violations.find(({ response }) => response === 'Deny');
  const reported = violations.filter((violation) => violation !== denying).map(({ because }) => because.text);
  if (denying !== undefined) return refuse(403, denying.because, [...new Set(reported)]);
  return allow(accepted, [...new Set([...reported, ...lint()])]);
}

/** A sentence of the catalogue: its code, the HTTP status of the answer that it explains, and its text. */
export interface Message<in Values> {
  readonly code: string;
  readonly status: 200 | Refused['code'];
  /** With status 429: when to retry. */
  readonly retryAfterSeconds?: number;
  readonly text: (values: Values) => string;
}

/** A sentence that refuses. */
interface RefusalMessage<in Values> extends Message<Values> {
  readonly status: Refused['code'];
}

/** The reason that a message gives. */
export function reasonOf<Values>(
  { code, text }: Message<Values>,
  values: Values,
  facts: Because['facts'] = {},
): Because {
  return because(code, text(values), facts);
}

/** Allows as it is, for the reason that a message gives. */
export function allowFor<Values>(message: Message<Values>, values: Values, facts: Because['facts'] = {}): Allowed {
  return allow(reasonOf(message, values, facts));
}

/** Refuses for the reason that a message gives, with its status. */
export function refuseFor<Values>(
  message: RefusalMessage<Values>,
  values: Values,
  facts: Because['facts'] = {},
): Refused {
  const { status, retryAfterSeconds } = message;
  const refused: Refused = { kind: 'refused', code: status, because: reasonOf(message, values, facts), warnings: [] };
  return retryAfterSeconds === undefined ? refused : { ...refused, retryAfterSeconds };
}

/**
 * The decision without the time to wait. Clients of Kubernetes wait that time up to ten times by themselves, without a
 * word to their user: for a person or a shared controller, an answer at once with the time in its text is better.
 */
export function withoutWait(decision: AdmissionDecision): AdmissionDecision {
  if (decision.kind === 'allowed') return decision;
  const { retryAfterSeconds, ...rest } = decision;
  return retryAfterSeconds === undefined ? decision : rest;
}

/** A `because` with the code of a message. */
export function because(code: string, text: string, facts: Because['facts'] = {}): Because {
  return { code, text, facts };
}
