import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';

/**
 * Why a pod that keeps to its request is not taken where the policy protects such pods (decision D-2), `undefined` if
 * it uses more. Who has no statistics has not been seen to use more.
 */
export function withinRequestProtection({ facts, exceedsRequest }: Candidate): Because | undefined {
  if (exceedsRequest) return undefined;
  const text = 'the pod uses no more than it requests';
  return { code: 'ProtectedWithinRequest', text, facts: { priority: facts.priority } };
}
