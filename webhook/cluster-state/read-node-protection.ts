import {
  PROTECTION_WITHOUT_POLICY,
  protectionByPolicy,
} from '#shared/api/node-pressure-policy/protection-by-policy.ts';
import { readNamedPolicy, selectPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Protection } from '#shared/domain/eviction/node-protection.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES, NODES } from '#shared/kube/resource.ts';
import { listReadable } from './list-readable.ts';
import { ERRORS } from '#webhook/messages.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * The protection rules that the policy of a node sets for our evictions, read from the API server: evictions are few,
 * and another cache could lag. A pod without a node is treated as on a node without labels. Rejects when anything
 * cannot be read, including a policy that may be the one for this node.
 */
export async function readNodeProtection(
  client: KubeClient,
  nodeName: string | undefined,
  timeoutMs: number,
): Promise<Protection> {
  const policies = await listReadable(client, { resource: NODE_PRESSURE_POLICIES }, asNamed, timeoutMs);
  const isLabelled = nodeName !== undefined && policies.length > 0;
  const selection = selectPolicy(policies, isLabelled ? await readNodeLabels(client, nodeName, timeoutMs) : NO_LABELS);
  if (selection.kind === 'none') return PROTECTION_WITHOUT_POLICY;
  if (selection.kind === 'selected') return protectionByPolicy(selection.policy.policy);
  const { name, field, message } = selection;
  throw new Error(ERRORS.readFields(`NodePressurePolicy "${name}"`, field, message));
}

function asNamed(raw: KubeObject) {
  return { ok: true, value: readNamedPolicy(raw) } as const;
}

async function readNodeLabels(
  client: KubeClient,
  name: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  const found = await getObject(client, { resource: NODES, name }, { timeoutMs });
  if (found.kind === 'notFound') return NO_LABELS;
  if (found.kind !== 'ok') throw new Error(ERRORS.read(`node "${name}"`, found.message));
  const decoded = decodeNode(found.object);
  if (!decoded.ok) throw new Error(ERRORS.readFields(`node "${name}"`, decoded.field, decoded.message));
  return decoded.value.labels;
}
