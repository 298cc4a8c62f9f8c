import { addAmounts, type Amounts, NO_AMOUNTS, ZERO } from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { matchesQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import { statusPatch, type Write } from './write.ts';

/**
 * Recounts what the pods of its namespace cost a quota (`pkg/controller/resourcequota`). Objects other than pods are
 * not counted.
 */
export function planQuota(quota: KubeObject, pods: readonly KubeObject[], now: number): readonly Write[] {
  const spec = isRecord(quota['spec']) ? quota['spec'] : {};
  const hard = isRecord(spec['hard']) ? spec['hard'] : {};
  // A new quota binds only once its status says so; judging by it as if it did gives its first count.
  const decoded = decodeResourceQuota({ ...quota, status: { hard } });
  if (!decoded.ok) return [];
  const ours = pods.filter(({ metadata }) => metadata.namespace === quota.metadata.namespace).flatMap(readPod);
  const counted = ours.filter((pod) => {
    const match = matchesQuota(decoded.value, pod);
    return match.ok && match.matches;
  });
  const charges = counted.reduce<Amounts>((sum, pod) => addAmounts(sum, charge(pod, now)), NO_AMOUNTS);
  const used = Object.keys(hard).map((name) => [name, formatQuantity(charges.get(name) ?? ZERO)]);
  return statusPatch(RESOURCE_QUOTAS, quota, { hard, used: Object.fromEntries(used) });
}

function readPod(raw: KubeObject): readonly Pod[] {
  const decoded = decodePod(raw);
  return decoded.ok ? [decoded.value] : [];
}
