import { fieldOf, isRecord } from '#shared/kube/kube-object.ts';
import { RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import type { Manifest } from '#cli/manifests/manifest.ts';

/**
 * A ResourceQuota as the quota controller would have it soon: limits that are in force, and zero used where the file
 * does not say. Other manifests stay as they are.
 */
export function assumeStatus(manifest: Manifest): Manifest {
  if (manifest.kind !== RESOURCE_QUOTAS.kind) return manifest;
  const { raw } = manifest;
  const status = fieldOf(raw, 'status');
  const hard = fieldOf(status, 'hard') ?? fieldOf(fieldOf(raw, 'spec'), 'hard');
  const used = fieldOf(status, 'used');
  if (!isRecord(hard)) return manifest;
  const nothing = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  return { ...manifest, raw: { ...raw, status: { hard, used: { ...nothing, ...(isRecord(used) && used) } } } };
}
