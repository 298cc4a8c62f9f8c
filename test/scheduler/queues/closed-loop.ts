import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import type { ReclaimBy } from '#shared/domain/queue/pass-stages.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { createDemand, type LoopQueue, type ModelPod } from './closed-loop-demand.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

const START_MS = 3_600_000;
const STEP_MS = 1_000;
/** Shorter than in a cluster, so that a run comes to rest soon. */
const PLACED_WITHIN_MS = 30_000;
const NODES = { 'node-0': 8, 'node-1': 8, 'node-2': 8 };
const SEND_LOST = 0.02;
const KILLED = 0.02;
const REFUSED = 0.1;
/** Of kube-scheduler, in each second. */
const RESTARTED = 0.03;
/** Of the evicted pods, which take up to one and a half minutes. */
const SLOW = 0.2;

/**
 * A cluster that answers: pods come, end and are made again by their owners, evicted pods take their time, kube-scheduler
 * places what has no gate and respects the nominations that it knows, requests are refused or lost, the leader is killed at
 * any write, and kube-scheduler is restarted: then it has forgotten the nominations of pods that are not written again.
 */
export function closedLoop(seed: number, queues: readonly LoopQueue[], reclaimBy: ReclaimBy) {
  const random = randomSource(seed);
  const clock = manualClock(START_MS);
  const world = queueWorld(
    queues.map(({ name, guaranteed }) =>
      queueFor('shop', { guaranteed: { cpu: guaranteed }, preemption: { delay: '5s' } }, name),
    ),
    NODES,
    { now: () => clock.now() },
  );
  const pods = new Map<string, ModelPod>();
  /** Pods whose nomination kube-scheduler knows. */
  const nominated = new Set<string>();
  /** Since when kube-scheduler does not know the nomination of a pod behind its gate. */
  let forgotten = new Map<string, number>();
  let longestForgotten = 0;
  const evictions: { readonly pod: string; readonly queue: string; readonly left: number }[] = [];
  /** Passes after which what the queues have was not what there is, as far as it is asked for. */
  let unbalanced = 0;
  let made = 0;
  let isQuiet = false;
  let leader = newLeader();

  const seconds = (): number => clock.now() / 1_000;
  const changeDemand = createDemand({ random, queues, seconds, create, remove, pods: () => [...pods.values()] });

  function put(pod: ModelPod): void {
    pods.set(pod.name, pod);
    if (pod.nominatedTo === undefined) nominated.delete(pod.name);
    else nominated.add(pod.name);
    world.see(pod);
  }

  function create(queue: string, cpu: number, priority: number): string {
    const name = `pod-${(made += 1)}`;
    const owners = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: queue, uid: `rs-${queue}`, controller: true }];
    put({ name, queue, cpu, priority, owners, gates: [GATE], labels: { [GATE]: queue }, createdAt: seconds() });
    return name;
  }

  function remove(pod: ModelPod): void {
    pods.delete(pod.name);
    nominated.delete(pod.name);
    world.gone(pod.name);
  }

  function newLeader() {
    const own = { isHeld: true };
    const leading = new AbortController();
    const { client } = scriptedClient((request) => answer(request.path, request.body, own));
    const reclaim = new Reclaim({
      client,
      clock,
      pods: world.pods,
      snapshot: world.snapshot,
      settings: () => ({ mode: 'Enforce', overuse: 'Keep' }),
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
    return { own, reclaim, leading, promises: new UnplacedPods({ withinMs: PLACED_WITHIN_MS }) };
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
    put({ ...pod, deletionAt: seconds() + 1 + random.below(random.chance(SLOW) ? 90 : 5) });
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

  function isNominated({ name, nominatedTo }: ModelPod, node: string): boolean {
    return nominatedTo === node && nominated.has(name);
  }

  function freeOn(node: string, { name, priority = 0 }: ModelPod): number {
    const counts = (each: ModelPod): boolean =>
      each.node === node ||
      (each.node === undefined && isNominated(each, node) && (each.priority ?? 0) >= priority && each.name !== name);
    const taken = [...pods.values()].filter(counts).reduce((sum, { cpu }) => sum + cpu, 0);
    return NODES[node as keyof typeof NODES] - taken;
  }

  function passTime(): void {
    for (const pod of [...pods.values()]) {
      if (pod.deletionAt === undefined || pod.deletionAt > seconds()) continue;
      remove(pod);
      create(pod.queue, pod.cpu, pod.priority ?? 0);
    }
    if (random.chance(RESTARTED)) nominated.clear();
    if (!isQuiet) changeDemand();
  }

  function noteForgotten(): void {
    const unknown = [...pods.values()].filter(({ name, gates = [], nominatedTo }) => {
      return gates.length > 0 && nominatedTo !== undefined && !nominated.has(name);
    });
    forgotten = new Map(unknown.map(({ name }) => [name, forgotten.get(name) ?? seconds()]));
    for (const since of forgotten.values()) longestForgotten = Math.max(longestForgotten, seconds() - since);
  }

  /** Whether both parts of the root are what there is, and those of the queues as much of it as is asked for. */
  function isBalanced({ allocation: { allocated, preempting }, total }: QueuePlan): boolean {
    const most = Number(total.get('cpu'));
    const asked = [...pods.values()].reduce((sum, { cpu }) => sum + 1_000 * cpu, 0);
    const parts = [allocated, preempting].map((usage) => (usage.get('cpu') ?? []).map(Number));
    const root = parts.reduce((sum, [ofRoot = 0]) => sum + ofRoot, 0);
    const below = parts.flatMap((each) => each.slice(1)).reduce((sum, each) => sum + each, 0);
    return root === most && below === Math.min(most, asked);
  }

  async function step(): Promise<QueuePlan> {
    await clock.advance(STEP_MS);
    passTime();
    if (!leader.own.isHeld) {
      leader.leading.abort();
      leader = newLeader();
    }
    const plan = world.plan(true, reclaimBy, {
      now: clock.now(),
      promises: leader.promises,
      isRoomMade: (uid) => leader.reclaim.isMakingRoomFor(uid),
    });
    if (!isBalanced(plan)) unbalanced += 1;
    for (const { name, queue } of plan.letIn) letIn(name.replace('shop/', ''), queue);
    await leader.reclaim.round(plan, leader.leading.signal);
    await leader.reclaim.settled();
    schedule();
    noteForgotten();
    return plan;
  }

  return {
    step,
    evictions,
    usedBy,
    /** No pod comes or ends by itself any more. */
    quieten: () => void (isQuiet = true),
    /** For how many seconds kube-scheduler did not know that a node was set aside, at most. */
    longestForgotten: () => longestForgotten,
    unbalanced: () => unbalanced,
    pods: (): readonly ModelPod[] => [...pods.values()],
  };
}

function withoutNomination(pod: ModelPod): ModelPod {
  const others: { -readonly [Field in keyof ModelPod]: ModelPod[Field] } = { ...pod };
  delete others.nominatedTo;
  return others;
}
