import { encodeAvoid } from '#shared/api/encode-node-pressure.ts';
import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { AvoidEntry } from '#shared/domain/avoidance/avoid-nodes.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';

const OPTIONS = { type: 'merge', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * Replaces `spec.avoid`, conditionally: any other write since the object was read makes it a conflict, and the
 * next pass plans anew.
 */
export function writeAvoid(
  client: KubeClient,
  { name, resourceVersion }: NodePressure,
  avoid: readonly AvoidEntry[],
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const patch = { metadata: { resourceVersion }, spec: { avoid: encodeAvoid(avoid) } };
  return patchObject(client, { resource: NODE_PRESSURES, name }, patch, { ...OPTIONS, signal });
}
