import { protectionOnNode, type Protection } from '#shared/domain/eviction/node-protection.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeNode } from '#shared/kube/decode/decode-node.ts';
import { decodeNodeProtection } from '#shared/kube/decode/decode-node-protection.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES, NODES } from '#shared/kube/resource.ts';
import { listStrictly } from './list-strictly.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * The protection rules that the policy of a node sets for our evictions, read from the API server: evictions are few,
 * and another cache could lag. A pod without a node is treated as on a node without labels. Rejects when anything
 * cannot be read, including any of the policies, which may be the one for this node.
 */
export async function readNodeProtection(
  client: KubeClient,
  nodeName: string | undefined,
  timeoutMs: number,
): Promise<Protection> {
  const policies = await listStrictly(client, { resource: NODE_PRESSURE_POLICIES }, decodeNodeProtection, timeoutMs);
  const isLabelled = nodeName !== undefined && policies.length > 0;
  return protectionOnNode(policies, isLabelled ? await readNodeLabels(client, nodeName, timeoutMs) : NO_LABELS);
}

async function readNodeLabels(
  client: KubeClient,
  name: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  const found = await getObject(client, { resource: NODES, name }, { timeoutMs });
  if (found.kind === 'notFound') return NO_LABELS;
  if (found.kind !== 'ok') throw new Error(`cannot read node "${name}": ${found.message}`);
  const decoded = decodeNode(found.object);
  if (!decoded.ok) throw new Error(`cannot read node "${name}": ${decoded.field}: ${decoded.message}`);
  return decoded.value.labels;
}
