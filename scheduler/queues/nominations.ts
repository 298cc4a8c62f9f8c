import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

export interface NominationPorts extends Pick<ClientContext, 'client'> {
  readonly pods: Pick<QueuedPods, 'get'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  /** Aborts when this replica no longer leads. */
  readonly leading: AbortSignal;
}

/** How the API server refuses the nomination of a pod that a scheduler placed meanwhile: it needs no room any more. */
const IS_BOUND = /already bound to a node/;
const OPTIONS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** Sets a node aside for a pod, or no longer; resolves with why it could not. */
export async function writeNomination(
  { client, pods, term, leading: signal }: NominationPorts,
  uid: string,
  nominatedNodeName: string | null,
) {
  const pod = pods.get(uid);
  if (pod === undefined || !term.isHeld())
    return { kind: 'outdated', message: 'the pod is gone, or another replica leads' };
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name, subresource: 'status' };
  const patch = { metadata: { uid }, status: { nominatedNodeName } };
  const outcome = await patchObject(client, address, patch, { ...OPTIONS, type: 'merge', signal });
  if (outcome.kind === 'ok') return undefined;
  return { kind: IS_BOUND.test(outcome.message) ? 'outdated' : outcome.kind, message: outcome.message };
}
