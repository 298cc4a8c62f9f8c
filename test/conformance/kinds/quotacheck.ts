import { checkQuotas } from '#shared/domain/quota/check-quotas.ts';
import type { QuotaRequest } from '#shared/domain/quota/quota-request.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { decodeLimitedResource, decodeResourceQuota } from '#shared/kube/decode-resource-quota.ts';
import type { WireObject } from '#shared/kube/wire-object.ts';
import { readBoolean, readInstant, readList, readText } from '#shared/kube/wire-object.ts';
import { describeRefusal } from '#test/conformance/describe-refusal.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Kind `quotacheck`: what the ResourceQuota admission plugin makes of one request. A dry run writes nothing. */
export function answer(raw: unknown): unknown {
  const { now, quotas, limited, isDryRun, request } = readCase(raw, readVector);
  const outcome = checkQuotas(
    quotas.map((quota) => required(decodeResourceQuota(quota))),
    limited.map((entry) => required(decodeLimitedResource(entry))),
    request,
    now,
  );
  if (outcome.kind === 'refused') return { want: { ...describeRefusal(outcome), newUsed: {} } };
  const written = isDryRun ? [] : [...outcome.newUsed];
  const newUsed = Object.fromEntries(written.map(([name, used]) => [name, printAmounts(used)]));
  return { want: { allowed: true, newUsed } };
}

function readVector(vector: WireObject) {
  return {
    now: readInstant(vector, 'now') ?? 0,
    quotas: readList(vector, 'quotas', asIs),
    limited: readList(vector, 'limited', asIs),
    isDryRun: readBoolean(vector, 'dryRun'),
    request: readRequest(vector),
  };
}

function readRequest(vector: WireObject): QuotaRequest {
  const subresource = readText(vector, 'subresource') ?? '';
  const pod = required(decodePod(vector['pod']));
  if (readText(vector, 'operation') === 'CREATE') return { operation: 'CREATE', subresource, pod };
  return { operation: 'UPDATE', subresource, pod, oldPod: required(decodePod(vector['oldPod'])) };
}
