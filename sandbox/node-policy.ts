import { encodeNodePressurePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES } from '#shared/kube/resource.ts';

/** Below this much available memory the sandbox's node is short; enough for some 100 ms of any demo image. */
export const THRESHOLD_MI = 224;

/** In the sandbox the agent really evicts pods. Everywhere else it starts in DryRun. */
export async function createNodePolicy(client: KubeClient): Promise<void> {
  const policy = encodeNodePressurePolicy('sandbox', {
    mode: 'Enforce',
    evictionHard: { 'memory.available': `${THRESHOLD_MI}Mi` },
    evictionPressureTransitionPeriod: '10s',
  });
  const created = await createObject(client, { resource: NODE_PRESSURE_POLICIES }, policy);
  if (created.kind !== 'ok') throw new Error(`cannot create the node's policy: ${created.message}`);
}
