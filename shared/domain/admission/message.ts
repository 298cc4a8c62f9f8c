import type { Because } from '#shared/domain/model/because.ts';
import { allow, type Allowed, type Refused } from './decision.ts';

/** A sentence of the catalogue: its code, the HTTP status of the answer that it explains, and its text. */
export interface Message<in Values> {
  readonly code: AdmissionCode;
  readonly status: 200 | Refused['code'];
  /** With status 429: when to retry. */
  readonly retryAfterSeconds?: number;
  readonly text: (values: Values) => string;
}

/** A sentence that refuses. */
export interface RefusalMessage<in Values> extends Message<Values> {
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

/** Every reason to allow or refuse a request: the audit annotation `decision` and the metric label `reason`. */
export type AdmissionCode =
  | 'NothingToDecide'
  | 'MalformedRequest'
  | 'UnknownResource'
  | 'ReviewTooLarge'
  | 'Overloaded'
  | 'NamespaceUnknown'
  | 'PriorityAccepted'
  | 'PriorityFromPolicy'
  | 'PrioritySubstituted'
  | 'UnknownPriorityClass'
  | 'PriorityMismatch'
  | 'ForgedQosClass'
  | 'ClassNotAllowed'
  | 'PriorityAboveCeiling'
  | 'PreemptionNotAllowed'
  | 'DefaultNotGiven'
  | 'QuotaRequired'
  | 'QuotaLabelMissing'
  | 'QuotaExceeded'
  | 'QuotaUnusable'
  | 'QuotaValuesMissing'
  | 'QuotaReserved'
  | 'QuotaBusy'
  | 'QuotaWasted'
  | 'QuotaUnknown'
  | 'TemplateAccepted'
  | 'ClassChangeAccepted'
  | 'ClassInUse'
  | 'SecondGlobalDefault'
  | 'DisruptionAccepted'
  | 'DisruptionOfProtectedPod'
  | 'DisruptionUnwanted'
  | 'DisruptionOfOtherPod'
  | 'DisruptionOnOtherNode'
  | 'DisruptionBudgetSpent'
  | 'DisruptionLimitReached'
  | 'DisruptionUnclear';

/** A `because` with an admission code. */
export function because(code: AdmissionCode, text: string, facts: Because['facts'] = {}): Because {
  return { code, text, facts };
}
