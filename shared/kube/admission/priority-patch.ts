import type { PodChange } from '#shared/domain/admission/decision.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { affinityPatch } from './affinity-patch.ts';
import type { PatchOperation } from './patch-operation.ts';

/**
 * The operations that make a raw pod carry these fields; none where it does already. The in-tree Priority
 * plugin runs again after us and refuses a pod whose three fields do not agree. An empty class name is left out.
 */
export function priorityPatch(pod: unknown, fields: PodChange): readonly PatchOperation[] {
  const spec = isRecord(pod) && isRecord(pod['spec']) ? pod['spec'] : {};
  return [
    ...setField(spec, 'priorityClassName', fields.priorityClassName === '' ? undefined : fields.priorityClassName),
    ...setField(spec, 'priority', fields.priority),
    ...setField(spec, 'preemptionPolicy', fields.preemptionPolicy),
    ...(fields.schedulerName === undefined ? [] : setField(spec, 'schedulerName', fields.schedulerName)),
    ...(fields.avoidNodes === undefined ? [] : affinityPatch(spec, fields.avoidNodes)),
  ];
}

function setField(spec: Readonly<Record<string, unknown>>, key: string, value: unknown): readonly PatchOperation[] {
  const path = `/spec/${key}`;
  const isPresent = Object.hasOwn(spec, key);
  if (value === undefined) return isPresent && spec[key] !== '' ? [{ op: 'remove', path }] : [];
  if (isPresent && spec[key] === value) return [];
  return [{ op: isPresent ? 'replace' : 'add', path, value }];
}
