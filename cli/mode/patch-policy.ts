import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES } from '#shared/kube/resource.ts';
import type { PolicyChange } from './plan-mode.ts';

const FIELD_MANAGER = 'plimsoll-mode';

/**
 * Carries out a change on the policy as it was read; with `dryRun` the API server only checks it. Resolves to why the
 * API server refuses, a conflict where the policy was changed meanwhile.
 */
export async function patchPolicy(
  { policy: name, resourceVersion, spec }: Pick<PolicyChange, 'policy' | 'resourceVersion' | 'spec'>,
  client: KubeClient,
  dryRun: boolean,
): Promise<string | undefined> {
  const address = { resource: NODE_PRESSURE_POLICIES, name };
  const options = { type: 'merge', fieldManager: FIELD_MANAGER, dryRun } as const;
  const outcome = await patchObject(client, address, { metadata: { resourceVersion }, spec }, options);
  return outcome.kind === 'ok' ? undefined : outcome.message;
}
