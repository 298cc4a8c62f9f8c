import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeLimitedResource, decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { readBoolean, readInstant, readList, readText, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { describeRefusal } from '#test/conformance/describe-refusal.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Kind `quotacheck`: what the ResourceQuota admission plugin makes of one request. */
export function answer(raw: unknown): unknown {
  const { pod, oldPod, quotas, limited, ...request } = readCase(raw, readVector);
  const verdict = checkQuotas(
    {
      ...request,
      pod: required(decodePod(pod)),
      oldPod: oldPod === undefined ? undefined : required(decodePod(oldPod)),
    },
    quotas.map((quota) => required(decodeResourceQuota(quota))),
    limited.map((entry) => required(decodeLimitedResource(entry))),
  );
  if (verdict.kind === 'refused') return { want: { ...describeRefusal(verdict), newUsed: {} } };
  const newUsed = Object.fromEntries(Array.from(verdict.newUsed, ([name, used]) => [name, printAmounts(used)]));
  return { want: { allowed: true, newUsed } };
}

function readVector(vector: WireObject) {
  return {
    now: readInstant(vector, 'now') ?? 0,
    operation: readText(vector, 'operation') ?? '',
    subresource: readText(vector, 'subresource') ?? '',
    isDryRun: readBoolean(vector, 'dryRun'),
    pod: vector['pod'],
    oldPod: vector['oldPod'] ?? undefined,
    quotas: readList(vector, 'quotas', asIs),
    limited: readList(vector, 'limited', asIs),
  };
}
