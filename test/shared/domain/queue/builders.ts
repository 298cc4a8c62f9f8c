import { readFileSync } from 'node:fs';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import { plainQueue, type Queue, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { GivingNode } from '#shared/domain/queue/givers.ts';
import type { ReclaimQuestion } from '#shared/domain/queue/reclaim.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';

/** An amount of CPU in the units of a test, which only have to agree with each other. */
export function cpu(amount: Whole): QueueAmounts {
  return new Map([['cpu', amount]]);
}

export function queue(name: string, parent?: string, change: Partial<Queue> = {}): Queue {
  return { ...plainQueue(name, parent), ...change };
}

/** A queue with one policy. */
export function policyOf(policy: Queue['preemption']['policy']): Pick<Queue, 'preemption'> {
  return { preemption: { policy, delayMs: 30_000, preferNear: false } };
}

export function running(name: string, queueName: string, change: Partial<RunningPod> = {}): RunningPod {
  return {
    uid: name,
    name,
    queue: queueName,
    application: `${queueName}-app`,
    priority: 0,
    requests: cpu(1),
    isOriginator: false,
    isDaemonSet: false,
    mayBePreempted: true,
    startedAt: 0,
    hasController: true,
    ownerDisruptedAt: undefined,
    budgets: [],
    ...change,
  };
}

/** A pod that has waited for a day. */
export function waiting(name: string, queueName: string, change: Partial<WaitingPod> = {}): WaitingPod {
  return {
    uid: name,
    name,
    queue: queueName,
    application: name,
    priority: 0,
    requests: cpu(1),
    isOriginator: false,
    isDaemonSet: false,
    waitingSince: -86_400_000,
    mayPreempt: true,
    isCharged: true,
    ...change,
  };
}

/** What pods ask for, by queue. */
export function ownUsage(pods: readonly { readonly queue: string; readonly requests: QueueAmounts }[]) {
  const usage = new Map<string, Map<string, Whole>>();
  for (const { queue: name, requests } of pods) {
    const sums = usage.get(name) ?? new Map<string, Whole>();
    usage.set(name, sums);
    for (const [type, amount] of requests) sums.set(type, plus(sums.get(type) ?? 0, amount));
  }
  return usage;
}

/** A node with these pods and what they leave of its capacity. */
export function node(name: string, capacity: QueueAmounts, pods: readonly RunningPod[]): GivingNode {
  const free = new Map(capacity);
  for (const { requests } of pods) {
    for (const [type, amount] of requests) free.set(type, minus(free.get(type) ?? 0, amount));
  }
  return { name, free, pods };
}

/** A question at time 0 about a pod, with the usage that follows from the nodes. */
export function question(
  queues: readonly Queue[],
  nodes: readonly GivingNode[],
  pod: WaitingPod,
  change: Partial<ReclaimQuestion> = {},
): ReclaimQuestion {
  const tree = createQueueTree(queues);
  const usage = sumUsage(tree, ownUsage(nodes.flatMap(({ pods }) => pods)));
  return { tree, usage, pod, now: 0, nodes, budgets: new Map(), ...change };
}

/** A worked example of the design sources. */
export function seed(id: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../vectors/seeds/${id}.json`, import.meta.url), 'utf8'));
}
