import { secondsText } from '#shared/api/fields.ts';
import {
  type TaintLimits,
  type NodeChange,
  planNodeChanges,
  type TaintPolicy,
} from '#shared/domain/nodes/plan-node-changes.ts';
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { NODES } from '#shared/kube/resource.ts';
import { MANY_UNDONE } from './contested-writes.ts';
import { CONDITION_TYPES, type KnownNode, TAINT_KEYS, reportOf } from './known-node.ts';
import { mergeAsRead, type NodePassPorts, WRITE, writeFenced } from './pass-ports.ts';

/** Brings our taints and conditions of every node up to date with what its agent reported. */
export async function runTaintPass(ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { caches, clock, metrics, contested, mostTaintedShare } = ports;
  const now = clock.now();
  const nodes = Array.from(caches.nodes.values(), (node) => ({ ...node, heldOff: contested.heldOff(node) }));
  const reports = new Map(Array.from(caches.pressures.values(), (each) => [each.name, reportOf(each, now)]));
  const plan = (of: TaintPolicy['of']) => planNodeChanges(nodes, reports, { of, mostTaintedShare }, now);
  const settings = new Map(nodes.map(({ name }) => [name, ports.settingsOf(name).taints]));
  const settingsOf = (name: string) => settings.get(name) ?? DEFAULT_NODE_SETTINGS.taints;
  const { changes, heldBack } = plan((name) => enforcedLimits(settingsOf(name)));
  metrics.taintedNodes.set(nodes.filter(({ taints }) => taints.size > 0).length);
  metrics.heldBackNodes.set(heldBack.length);
  metrics.contestedNodes.set(contested.contestedNodes());
  const isDry = (name: string) => settingsOf(name).mode === 'DryRun';
  if (nodes.some(({ name }) => isDry(name)))
    announce(
      ports,
      plan(settingsOf).changes.filter(({ node }) => isDry(node)),
    );
  for (const [name, own] of inWriteOrder(changes, ports)) {
    if (signal.aborted) return;
    const node = caches.nodes.get(name);
    if (node === undefined) continue;
    const due = own.filter((change) => !contested.mustWait(node, change));
    await carryOut({ node, changes: due, now }, ports, signal);
  }
}

type NodeChanges = readonly [node: string, changes: readonly NodeChange[]];

/**
 * The changes of each node: taints to remove come first, because they make room for others, then taints to add. Among
 * equal nodes, those without a recent write come first.
 */
function inWriteOrder(changes: readonly NodeChange[], { budgets }: NodePassPorts): readonly NodeChanges[] {
  const byNode = [...Map.groupBy(changes, ({ node }) => node)];
  const rankOf = ([, own]: NodeChanges): number => Math.min(...own.map(({ kind }) => WRITE_ORDER.indexOf(kind)));
  return budgets.nodes.inTurn(byNode, ([node]) => node).toSorted((left, right) => rankOf(left) - rankOf(right));
}

const WRITE_ORDER: readonly NodeChange['kind'][] = ['untaint', 'taint', 'condition'];

/** Where nothing is enforced, no taint and no condition of ours stays. */
function enforcedLimits(settings: NodeSettings['taints']): TaintLimits {
  return settings.mode === 'Enforce' ? settings : { ...settings, families: [] };
}

/** Conditions are not announced, because they do not change where pods go. */
function announce({ announce: say }: NodePassPorts, changes: readonly NodeChange[]): void {
  const taints = changes.filter(({ kind }) => kind !== 'condition');
  say(
    'taints',
    taints.map(({ kind, because }) => `${kind}: ${because.text}`),
  );
}

async function carryOut({ node, changes, now }: NodeWrite, ports: NodePassPorts, signal: AbortSignal): Promise<void> {
  const { client, log } = ports;
  const { condition: conditions = [], taint: taints = [] } = Object.groupBy(changes, ({ kind }) =>
    kind === 'condition' ? 'condition' : 'taint',
  );
  const write = async (object: 'taints' | 'conditions', own: readonly NodeChange[]): Promise<boolean> => {
    const send = object === 'taints' ? writeTaints : writeConditions;
    const target = { object, name: node.name } as const;
    return (
      own.length > 0 && writeFenced(ports, target, () => send(client, { node, changes: own, now }, signal), signal)
    );
  };
  if (await write('taints', taints)) {
    for (const { because, kind } of taints)
      log.info({ ...because.facts, code: because.code, kind }, 'Node taint changed');
    for (const change of taints) noteWrite(node, change, ports);
  }
  if (await write('conditions', conditions)) for (const change of conditions) noteWrite(node, change, ports);
}

/** A controller that keeps undoing the same change is reported, and the pause before the next attempt grows. */
function noteWrite(node: KnownNode, change: NodeChange, { contested, events, log }: NodePassPorts): void {
  const { times, waitMs } = contested.note(node, change);
  if (times < MANY_UNDONE) return;
  const what = change.kind === 'condition' ? CONDITION_TYPES[change.family] : TAINT_KEYS[change.family];
  const note = `another controller undoes ${what} on this node: ${times} times in a row; next attempt in ${waitMs / 1_000} s at the earliest`;
  log.warn({ node: node.name, what, times, waitMs }, 'Node write contested');
  events.record({
    regarding: { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
    type: 'Warning',
    reason: EVENT_REASONS.nodeContested,
    note,
    action: 'Taint',
  });
}

export interface NodeWrite {
  readonly node: KnownNode;
  /** All of one kind: conditions, or taints to add and remove. */
  readonly changes: readonly NodeChange[];
  readonly now: Instant;
}

/** `spec.taints` is one list without an owner per entry, so all other taints are written back unchanged. */
function writeTaints(
  client: KubeClient,
  { node, changes, now }: NodeWrite,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const keys = changes.map(({ family }) => TAINT_KEYS[family]);
  const others = node.allTaints.filter(({ key }) => !keys.includes(String(key)));
  const timeAdded = secondsText(now);
  const added = changes.filter(({ kind }) => kind === 'taint');
  const taints = [
    ...others,
    ...added.map(({ family }) => ({ key: TAINT_KEYS[family], effect: 'NoSchedule', timeAdded })),
  ];
  const { name, resourceVersion } = node;
  return mergeAsRead(client, { resource: NODES, name, resourceVersion }, { spec: { taints } }, signal);
}

/** Writes our conditions; those of the kubelet and of other controllers stay, as the list is merged by type. */
function writeConditions(
  client: KubeClient,
  { node, changes, now }: NodeWrite,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const conditions = changes.flatMap((change) => (change.kind === 'condition' ? [conditionPatch(change, now)] : []));
  const address = { resource: NODES, name: node.name, subresource: 'status' };
  return patchObject(client, address, { status: { conditions } }, { ...WRITE, type: 'strategic', signal });
}

function conditionPatch({ family, status }: Extract<NodeChange, { kind: 'condition' }>, now: Instant): object {
  const type = CONDITION_TYPES[family];
  if (status === undefined) return { $patch: 'delete', type };
  const at = secondsText(now);
  const { reason, message } = TEXTS[status];
  return { type, status, reason, message, lastTransitionTime: at, lastHeartbeatTime: at };
}

const TEXTS = {
  True: { reason: 'Pressure', message: 'The agent of this node reports pressure' },
  False: { reason: 'NoPressure', message: 'The agent of this node reports no pressure' },
  Unknown: { reason: 'NotReported', message: 'The agent of this node is silent or does not measure this' },
} as const;
