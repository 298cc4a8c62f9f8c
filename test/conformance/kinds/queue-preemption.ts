import { minus } from '#shared/domain/quantity/whole.ts';
import { plainQueue, type Queue, type QueueAmounts, type QueuePolicy } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { GivingNode } from '#shared/domain/queue/givers.ts';
import { decideReclaim, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import {
  readBoolean,
  readChoice,
  readInstant,
  readInt32,
  readList,
  readPart,
  readText,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { readQueueAmounts } from '#test/conformance/kinds/queue-deserved.ts';
import { readCase } from '#test/conformance/required.ts';

/** The policies as the cases spell them. */
const POLICIES: Readonly<Record<string, QueuePolicy>> = { default: 'Default', fence: 'Fence', disabled: 'Disabled' };
/** The pending pod has waited longer than any delay. */
const NOW = 1_000_000_000_000;

/** Kind `queue-preemption`: who makes room for one pending pod, and on which node. */
export function answer(raw: unknown): unknown {
  const { queues, nodes, running, pending } = readCase(raw, (vector) => ({
    queues: readList(vector, 'queues', readQueue),
    nodes: readList(vector, 'nodes', (node) => ({
      name: readText(node, 'name') ?? '',
      capacity: readQueueAmounts(node, 'capacity'),
    })),
    running: readList(vector, 'running', readRunning),
    pending: readPart(vector, 'pending', readPending),
  }));
  const tree = createQueueTree(queues);
  const decision = decideReclaim({
    tree,
    usage: sumUsage(tree, byQueue(running.map(({ pod }) => pod))),
    pod: pending,
    now: NOW,
    nodes: nodes.map(({ name, capacity }) => {
      const pods = running.filter(({ node }) => node === name).map(({ pod }) => pod);
      return givingNode(name, capacity, pods);
    }),
    budgets: new Map(),
  });
  return { want: wantOf(decision) };
}

function wantOf(decision: ReclaimDecision): object {
  switch (decision.kind) {
    case 'fits':
      return { outcome: 'fits', node: decision.node };
    case 'reclaim':
      return { outcome: 'preempt', node: decision.node, victims: decision.victims.map(({ name }) => name) };
    case 'none':
      return { outcome: 'none' };
  }
}

function givingNode(name: string, capacity: QueueAmounts, pods: readonly RunningPod[]): GivingNode {
  const free = new Map(capacity);
  for (const { requests } of pods) {
    for (const [type, amount] of requests) free.set(type, minus(free.get(type) ?? 0, amount));
  }
  return { name, free, pods };
}

function byQueue(pods: readonly RunningPod[]): ReadonlyMap<string, QueueAmounts> {
  const used = new Map<string, Map<string, number | bigint>>();
  for (const { queue, requests } of pods) {
    const sums = used.get(queue) ?? new Map<string, number | bigint>();
    used.set(queue, sums);
    for (const [type, amount] of requests) sums.set(type, minus(sums.get(type) ?? 0, -amount));
  }
  return used;
}

function readQueue(vector: WireObject): Queue {
  const bare = plainQueue(readText(vector, 'name') ?? '', readText(vector, 'parent'));
  const policy = POLICIES[readChoice(vector, 'policy', Object.keys(POLICIES)) ?? 'default'] ?? 'Default';
  return {
    ...bare,
    guaranteed: readQueueAmounts(vector, 'guaranteed'),
    max: readQueueAmounts(vector, 'max'),
    preemption: { ...bare.preemption, policy },
  };
}

function readRunning(vector: WireObject): { readonly pod: RunningPod; readonly node: string } {
  const pod = {
    ...readPod(vector),
    mayBePreempted: vector['allowPreemption'] === undefined || readBoolean(vector, 'allowPreemption'),
    startedAt: readInstant(vector, 'startTime'),
    hasController: true,
    ownerDisruptedAt: undefined,
    budgets: [],
  };
  return { pod, node: readText(vector, 'node') ?? '' };
}

function readPending(vector: WireObject): WaitingPod {
  return { ...readPod(vector), waitingSince: 0, mayPreempt: true, isCharged: true };
}

function readPod(vector: WireObject) {
  const name = readText(vector, 'name') ?? '';
  return {
    uid: name,
    name,
    queue: readText(vector, 'queue') ?? '',
    application: readText(vector, 'app') ?? '',
    priority: readInt32(vector, 'priority') ?? 0,
    requests: readQueueAmounts(vector, 'request'),
    isOriginator: readBoolean(vector, 'originator'),
    isDaemonSet: false,
  };
}
