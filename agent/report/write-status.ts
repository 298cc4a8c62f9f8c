import { encodeObject } from '#shared/api/encode-fields.ts';
import { encodeStatus } from '#shared/api/encode-node-pressure.ts';
import type { NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODE_PRESSURES } from '#shared/kube/resource.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';

export interface StatusTarget {
  readonly client: KubeClient;
  readonly nodeName: string;
  /** UID of the Node that owns the NodePressure, so that both are deleted together; `undefined` while unknown. */
  readonly nodeUid: () => string | undefined;
}

const TIMEOUT_MS = 5000;

function emptyObject(nodeName: string, nodeUid: string | undefined): object {
  const owner = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid };
  return encodeObject(
    'NodePressure',
    { name: nodeName, ownerReferences: nodeUid === undefined ? undefined : [owner] },
    {},
  );
}

/** Writes this node's NodePressure status; creates the object if it is missing. */
export async function writeStatus(
  { client, nodeName, nodeUid }: StatusTarget,
  status: NodePressureStatus,
  signal: AbortSignal,
): Promise<Outcome<KubeObject>> {
  const options = { type: 'merge', fieldManager: COMPONENT_NAMES.agent, signal, timeoutMs: TIMEOUT_MS } as const;
  const address = { resource: NODE_PRESSURES, name: nodeName, subresource: 'status' };
  const patch = { status: encodeStatus(status) };
  const patched = await patchObject(client, address, patch, options);
  if (patched.kind !== 'notFound') return patched;
  const created = await createObject(client, { resource: NODE_PRESSURES }, emptyObject(nodeName, nodeUid()), options);
  if (created.kind !== 'ok' && created.kind !== 'alreadyExists') return created;
  return patchObject(client, address, patch, options);
}
