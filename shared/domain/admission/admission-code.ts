import type { Because } from '#shared/domain/model/because.ts';

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
