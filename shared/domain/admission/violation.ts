import type { Because } from '#shared/domain/model/because.ts';
import { allow, refuse, type AdmissionDecision } from './decision.ts';

/** A rule that a pod breaks, and whether that keeps it out. */
export interface Violation {
  readonly because: Because;
  readonly response: 'Deny' | 'Warn';
}

/**
 * Refused by the first violation that denies, else allowed; every other violation is told as a warning. Only what is
 * allowed is linted, and only once that is certain.
 */
export function decideByViolations(
  accepted: Because,
  violations: readonly Violation[],
  lint: () => readonly string[] = () => [],
): AdmissionDecision {
  const denying = violations.find(({ response }) => response === 'Deny');
  const told = violations.filter((violation) => violation !== denying).map(({ because }) => because.text);
  if (denying !== undefined) return refuse(403, denying.because, [...new Set(told)]);
  return allow(accepted, [...new Set([...told, ...lint()])]);
}
