import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';
import { allow, type AdmissionDecision } from './decision.ts';

/** The decision in mode `DryRun`: a refusal becomes a warning. */
export function asDryRun(decision: AdmissionDecision): AdmissionDecision {
  if (decision.kind === 'allowed') return decision;
  return allow(decision.because, [...decision.warnings, PHRASES.dryRun(decision.because.text)]);
}
