import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import type { QueuePlan, ReclaimBy } from '#shared/queues/plan-pass.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from '#test/shared/queues/queue-world.ts';

const START_MS = 3_600_000;
const STEP_MS = 1_000;
const NODES = { 'node-0': 8, 'node-1': 8, 'node-2': 8 };
const SEND_LOST = 0.02;
const KILLED = 0.02;
const REFUSED = 0.1;
const MAX_PODS = 40;
/** So long one queue asks for more, while the others ask for less. */
const PHASE_SECONDS = 40;

/** A queue of the loop. */
export interface LoopQueue {
  readonly name: string;
  readonly guaranteed: number;
}

/** A pod as the model has it; `queue` is where its label puts it. */
interface ModelPod extends WatchedPod {
  readonly queue: string;
  readonly cpu: number;
  readonly createdAt: number;
}

/**
 * A cluster that answers: pods come, end and are made again by their owners, evicted pods take their time, kube-scheduler
 * places what has no gate and respects nominations, requests are refused or lost, and the leader is killed at any write.
 */
export function closedLoop(seed: number, queues: readonly LoopQueue[], reclaimBy: ReclaimBy) {
  const random = randomSource(seed);
  const clock = manualClock(START_MS);
  const world = queueWorld(
    queues.map(({ name, guaranteed }) =>
      queueFor('shop', { guaranteed: { cpu: guaranteed }, preemption: { delay: '5s' } }, name),
    ),
    NODES,
  );
  const pods = new Map<string, ModelPod>();
  const evictions: { readonly pod: string; readonly queue: string; readonly left: number }[] = [];
  let made = 0;
  let isQuiet = false;
  let leader = newLeader();

  const seconds = (): number => clock.now() / 1_000;

  function put(pod: ModelPod): void {
    pods.set(pod.name, pod);
    world.see(pod);
  }

  function create(queue: string, cpu: number, priority: number): void {
    const name = `pod-${(made += 1)}`;
    const owners = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: queue, uid: `rs-${queue}`, controller: true }];
    put({ name, queue, cpu, priority, owners, gates: [GATE], labels: { [GATE]: queue }, createdAt: seconds() });
  }

  function remove(pod: ModelPod): void {
    pods.delete(pod.name);
    world.gone(pod.name);
  }

  function newLeader() {
    const own = { isHeld: true };
    const leading = new AbortController();
    const { client } = scriptedClient((request) => answer(request.path, request.body, own));
    const reclaim = new Reclaim({
      ...{ client, clock, mode: 'Enforce', overuse: 'Off', pods: world.pods, snapshot: world.snapshot },
      leading: leading.signal,
      log: createLog({
        component: 'scheduler',
        level: 'error',
        format: 'json',
        destination: { write: () => undefined },
      }),
      metrics: createQueueMetrics(createMetrics('scheduler')),
      events: { record: () => undefined },
      term: { isHeld: () => own.isHeld },
      letIn: async (list) => {
        for (const { name, queue } of list) letIn(name.replace('shop/', ''), queue);
        return Promise.resolve();
      },
    });
    return { own, reclaim, leading };
  }

  /** What the API server does with a write; a leader may be killed at each, before or after it takes effect. */
  function answer(path: string, body: unknown, own: { isHeld: boolean }): Outcome<unknown> {
    const name = /\/pods\/([^/]+)\//.exec(path)?.[1] ?? '';
    const pod = pods.get(name);
    if (random.chance(KILLED)) own.isHeld = false;
    if (random.chance(SEND_LOST)) return { kind: 'timeout', message: 'lost' };
    if (pod === undefined) return { kind: 'notFound', message: '' };
    if (path.endsWith('/eviction')) return evict(pod);
    const nominatedTo =
      at(body, 'status.nominatedNodeName') === null ? undefined : textAt(body, 'status.nominatedNodeName');
    put({ ...withoutNomination(pod), ...(nominatedTo !== undefined && { nominatedTo }) });
    return { kind: 'ok', object: { metadata: { name } }, warnings: [] };
  }

  function evict(pod: ModelPod): Outcome<unknown> {
    if (random.chance(REFUSED)) return { kind: 'tooManyRequests', message: 'no', status: 429 };
    evictions.push({ pod: pod.name, queue: pod.queue, left: usedBy(pod.queue) - pod.cpu });
    put({ ...pod, deletionAt: seconds() + 1 + random.below(5) });
    return { kind: 'ok', object: {}, warnings: [] };
  }

  /** What the pods of a queue have that stay. */
  function usedBy(queue: string): number {
    const staying = [...pods.values()].filter((each) => each.queue === queue && each.deletionAt === undefined);
    return staying.filter(({ gates = [] }) => gates.length === 0).reduce((sum, { cpu }) => sum + cpu, 0);
  }

  function letIn(name: string, queue: string): void {
    const pod = pods.get(name);
    if (pod === undefined) return;
    put({
      ...pod,
      gates: [],
      admittedTo: queue,
      admittedAt: seconds(),
      mayPreempt: true,
      mayBePreempted: random.chance(0.9),
    });
  }

  /** As kube-scheduler: by priority, then age; room that pods of equal or higher priority are nominated to is taken. */
  function schedule(): void {
    const pending = [...pods.values()].filter(
      ({ gates = [], node, deletionAt }) => gates.length === 0 && node === undefined && deletionAt === undefined,
    );
    pending.sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0) || a.createdAt - b.createdAt);
    for (const pod of pending) {
      const node = Object.keys(NODES).find((name) => freeOn(name, pod) >= pod.cpu);
      if (node === undefined) put(withoutNomination(pod));
      else put({ ...withoutNomination(pod), node, phase: 'Running', startedAt: seconds() });
    }
  }

  function freeOn(node: string, { name, priority = 0 }: ModelPod): number {
    const counts = (each: ModelPod): boolean =>
      each.node === node ||
      (each.node === undefined && each.nominatedTo === node && (each.priority ?? 0) >= priority && each.name !== name);
    const taken = [...pods.values()].filter(counts).reduce((sum, { cpu }) => sum + cpu, 0);
    return NODES[node as keyof typeof NODES] - taken;
  }

  function passTime(): void {
    for (const pod of [...pods.values()]) {
      if (pod.deletionAt === undefined || pod.deletionAt > seconds()) continue;
      remove(pod);
      create(pod.queue, pod.cpu, pod.priority ?? 0);
    }
    if (!isQuiet) changeDemand();
  }

  function changeDemand(): void {
    const favoured = queues[Math.floor(seconds() / PHASE_SECONDS) % queues.length]?.name ?? '';
    if (random.chance(0.7) && pods.size < MAX_PODS) create(favoured, 1 + random.below(4), random.below(2));
    const others = [...pods.values()].filter(({ queue, deletionAt }) => queue !== favoured && deletionAt === undefined);
    if (others.length > 0 && random.chance(0.4)) remove(random.pick(others));
  }

  async function step(): Promise<QueuePlan> {
    await clock.advance(STEP_MS);
    passTime();
    if (!leader.own.isHeld) {
      leader.leading.abort();
      leader = newLeader();
    }
    const plan = world.plan(true, reclaimBy, { now: clock.now() });
    for (const { name, queue } of plan.letIn) letIn(name.replace('shop/', ''), queue);
    await leader.reclaim.round(plan, leader.leading.signal);
    await leader.reclaim.settled();
    schedule();
    return plan;
  }

  return {
    step,
    evictions,
    usedBy,
    /** No pod comes or ends by itself any more. */
    quieten: () => void (isQuiet = true),
    pods: (): readonly ModelPod[] => [...pods.values()],
  };
}

function withoutNomination(pod: ModelPod): ModelPod {
  const others: { -readonly [Field in keyof ModelPod]: ModelPod[Field] } = { ...pod };
  delete others.nominatedTo;
  return others;
}
