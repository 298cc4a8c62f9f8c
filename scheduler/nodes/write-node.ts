import type { Instant } from '#shared/domain/pod/pod.ts';
import type { NodeChange } from '#shared/domain/node-control/plan-node-changes.ts';
import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODES } from '#shared/kube/resource.ts';
import { CONDITION_TYPES, type KnownNode, TAINT_KEYS } from './known-node.ts';

export interface NodeWrite {
  readonly node: KnownNode;
  /** All of one kind: conditions, or taints to add and remove. */
  readonly changes: readonly NodeChange[];
  readonly now: Instant;
}

const OPTIONS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/**
 * Writes our taints, conditionally: another writer of this node since it was read makes it a conflict, and the next
 * pass plans anew. `spec.taints` is one list without an owner per entry, so all other taints are written as they are.
 */
export function writeTaints(
  client: KubeClient,
  { node, changes, now }: NodeWrite,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const keys = changes.map(({ family }) => TAINT_KEYS[family]);
  const others = node.allTaints.filter(({ key }) => !keys.includes(String(key)));
  const timeAdded = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const added = changes.filter(({ kind }) => kind === 'taint');
  const taints = [
    ...others,
    ...added.map(({ family }) => ({ key: TAINT_KEYS[family], effect: 'NoSchedule', timeAdded })),
  ];
  const patch = { metadata: { resourceVersion: node.resourceVersion }, spec: { taints } };
  return patchObject(client, { resource: NODES, name: node.name }, patch, { ...OPTIONS, type: 'merge', signal });
}

/** Writes our conditions; those of the kubelet and of other controllers stay, as the list is merged by type. */
export function writeConditions(
  client: KubeClient,
  { node, changes, now }: NodeWrite,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const conditions = changes.flatMap((change) => (change.kind === 'condition' ? [conditionPatch(change, now)] : []));
  const address = { resource: NODES, name: node.name, subresource: 'status' };
  return patchObject(client, address, { status: { conditions } }, { ...OPTIONS, type: 'strategic', signal });
}

function conditionPatch({ family, status }: Extract<NodeChange, { kind: 'condition' }>, now: Instant): object {
  const type = CONDITION_TYPES[family];
  if (status === undefined) return { $patch: 'delete', type };
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const { reason, message } = TEXTS[status];
  return { type, status, reason, message, lastTransitionTime: at, lastHeartbeatTime: at };
}

const TEXTS = {
  True: { reason: 'Pressure', message: 'The agent of this node reports pressure' },
  False: { reason: 'NoPressure', message: 'The agent of this node reports no pressure' },
  Unknown: { reason: 'NotReported', message: 'The agent of this node is silent or does not measure this' },
} as const;
