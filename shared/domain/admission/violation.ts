import type { Because } from '#shared/domain/model/because.ts';
import { allow, refuse, type AdmissionDecision } from './decision.ts';

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
