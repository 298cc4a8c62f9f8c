import type { Because } from '#shared/domain/model/because.ts';

/** Every reason for which a request is let in or refused; audit annotation `decision` and label `reason` of the metrics. */
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
  | 'QuotaRequired'
  | 'QuotaExceeded'
  | 'QuotaUnusable'
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

/** A `because` whose code is one of ours. */
export function because(code: AdmissionCode, text: string, facts: Because['facts'] = {}): Because {
  return { code, text, facts };
}
