import { matchesQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `quotascope`: whether a quota limits a pod. */
export function answer(raw: unknown): unknown {
  const { quota, pod } = readCase(raw, (vector) => ({ quota: vector['quota'], pod: vector['pod'] }));
  const match = matchesQuota(required(decodeResourceQuota(quota)), required(decodePod(pod)));
  return match.ok ? { matches: match.matches } : { matches: false, error: match.message };
}
