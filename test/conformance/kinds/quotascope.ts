import { matchesQuota } from '#shared/domain/quota/scopes.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode-resource-quota.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `quotascope`: does a quota apply to a pod. */
export function answer(raw: unknown): unknown {
  const vector = readCase(raw, ({ quota, pod }) => ({ quota, pod }));
  const match = matchesQuota(required(decodeResourceQuota(vector.quota)), required(decodePod(vector.pod)));
  return match.kind === 'fault' ? { matches: false, error: match.message } : { matches: match.matches };
}
