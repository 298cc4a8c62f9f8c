import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { encodeAmounts } from '#shared/api/encode-fields.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { RESOURCE_QUOTAS } from '#sandbox/api-server/storage-names.ts';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { copyObject, fieldsAt, fieldsOf } from '#sandbox/api-server/wire/object.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { decodeForPlugin } from './decode-for-plugin.ts';
import { refusalError } from './refusal-error.ts';

/**
 * The in-tree ResourceQuota plugin around the shared decisions, for pods: checks all quotas of the namespace and
 * writes what they are charged. One turn of the event loop with the write of the pod, so no race is possible.
 * Throws 403 and 500.
 */
export function chargeQuotas(store: Store, attributes: Attributes, now: number): void {
  const { type, operation, subresource, namespace, object, previous, isDryRun } = attributes;
  if (
    type.group !== '' ||
    type.plural !== 'pods' ||
    object === undefined ||
    subresource === 'eviction' ||
    subresource === 'binding'
  )
    return;
  const quotas = quotasOf(store, namespace);
  if (quotas.length === 0) return;
  const oldPod = previous === undefined ? undefined : decodeForPlugin(previous, decodePod);
  const outcome = checkQuotas(
    { operation, subresource, pod: decodeForPlugin(object, decodePod), oldPod, isDryRun, now },
    quotas,
    [],
  );
  if (outcome.kind === 'refused') throw refusalError(outcome, type, object.metadata.name);
  for (const [name, used] of outcome.newUsed) writeUsed(store, keyOf(namespace, name), used);
}

function quotasOf(store: Store, namespace: string): ResourceQuota[] {
  const collection = store.collection(RESOURCE_QUOTAS);
  if (collection.size === 0) return [];
  const found = collection.values().filter(({ object }) => object.metadata.namespace === namespace);
  return found.map(({ object }) => decodeForPlugin(object, decodeResourceQuota));
}

function writeUsed(store: Store, key: string, used: Amounts): void {
  const revision = store.collection(RESOURCE_QUOTAS).get(key);
  if (revision === undefined) return;
  const next = copyObject(revision.object);
  fieldsOf(next)['status'] = { ...fieldsAt(next, 'status'), used: encodeAmounts(used) };
  store.put(RESOURCE_QUOTAS, next);
}
