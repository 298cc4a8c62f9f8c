import { decodeAdmitted } from '#shared/api/admitted.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { refusalOf } from '#scheduler/queues/let-pods-in.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { putNode, removeNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode } from '#test/build/cluster.ts';
import { GATE, type NodeSizes, queueFor, queueWorld, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';
import { gangLeader } from './gang-leader.ts';
import { scheduleAll, type SchedulerSettings } from './model-scheduler.ts';

export const START_MS = 3_600_000;
const STEP_MS = 1_000;
export const TIMEOUT_MS = 60_000;

export interface LoopPod extends WatchedPod {
  readonly cpu: number;
  readonly priority: number;
  readonly createdAt: number;
  readonly gang?: string;
  /** The controller that creates a single pod again. */
  readonly owner?: string;
}

/** What becomes of a write: it takes effect or not, and the leader may be gone afterwards. */
export interface Fate {
  /** It does not take effect, and this is the answer. */
  readonly failure?: 'timeout' | 'conflict' | undefined;
  readonly isFatal?: boolean;
}

export interface GangLoopSettings extends SchedulerSettings {
  readonly nodes: NodeSizes;
  readonly queue?: object;
  readonly fateOf?: (write: number, request: KubeRequest) => Fate;
}

/**
 * A cluster that answers: kube-scheduler places what has no gate, by priority and age, and keeps the room of the
 * nominations that it knows; owners create evicted pods again; the leader is replaced where a write was fatal.
 */
export function gangLoop({ nodes, queue = {}, fateOf = () => ({}), ...scheduling }: GangLoopSettings) {
  const clock = manualClock(START_MS);
  const world = queueWorld([queueFor('shop', queue)], nodes, { now: () => clock.now() });
  const sizes = new Map(Object.entries(nodes));
  const pods = new Map<string, LoopPod>();
  /** Pods whose nomination kube-scheduler knows. */
  const known = new Set<string>();
  const broken: string[] = [];
  let [writes, made, terms] = [0, 0, 0];
  let leader = newLeader();
  const seconds = (): number => clock.now() / 1_000;

  function put(pod: LoopPod): void {
    pods.set(pod.name, pod);
    if (pod.nominatedTo === undefined) known.delete(pod.name);
    else known.add(pod.name);
    world.see(pod);
  }

  /** Nothing is nominated to a node beyond what it has, beside what has been there before. */
  function checkNominated(node: string): void {
    const size = sizes.get(node) ?? 0;
    const isThere = (pod: LoopPod): boolean => pod.node === node && pod.createdAt < seconds();
    const isToCome = (pod: LoopPod): boolean => pod.node === undefined && pod.nominatedTo === node;
    const held = [...pods.values()].filter((pod) => isThere(pod) || isToCome(pod));
    const sum = held.reduce((total, { cpu }) => total + cpu, 0);
    if (sum > size) broken.push(`${node} is nominated beyond ${size}: ${sum}`);
  }

  function create(fields: Partial<LoopPod> & { readonly gang?: string; readonly size?: number }): string {
    const { gang, size, ...rest } = fields;
    const name = rest.name ?? `pod-${(made += 1)}`;
    const labels = gang === undefined ? {} : { 'plimsoll.dev/gang': gang, 'plimsoll.dev/gang-size': String(size) };
    const owners = [
      { apiVersion: 'batch/v1', kind: 'Job', name: gang ?? name, uid: `job-${gang ?? name}`, controller: true },
    ];
    put({
      cpu: 1,
      priority: 0,
      gates: [GATE],
      createdAt: seconds(),
      owners,
      ...rest,
      name,
      labels,
      ...(gang !== undefined && { gang }),
    });
    return name;
  }

  function createGang(gang: string, size: number, cpu: number, more: Partial<LoopPod> = {}): void {
    for (let index = 0; index < size; index += 1) create({ gang, size, cpu, ...more });
  }

  function remove(name: string): void {
    pods.delete(name);
    known.delete(name);
    world.gone(name);
  }

  function newLeader() {
    terms += 1;
    const own = { isHeld: true };
    const { client } = scriptedClient((request) => answer(request, own));
    return { own, ...gangLeader({ client, clock, world, isHeld: () => own.isHeld, timeoutMs: TIMEOUT_MS }) };
  }

  function answer(request: KubeRequest, own: { isHeld: boolean }): Outcome<unknown> {
    const { path, body } = request;
    if (!own.isHeld) return { kind: 'unreachable', message: 'gone' };
    writes += 1;
    const { failure, isFatal = false } = fateOf(writes, request);
    if (isFatal) own.isHeld = false;
    if (failure !== undefined) return { kind: failure, message: 'no' };
    const pod = pods.get(/\/pods\/([^/]+)/.exec(path)?.[1] ?? '');
    if (pod === undefined) return { kind: 'notFound', message: '' };
    take(pod, path, body);
    return isFatal ? { kind: 'timeout', message: 'gone' } : { kind: 'ok', object: { metadata: {} }, warnings: [] };
  }

  function take(pod: LoopPod, path: string, body: unknown): void {
    if (path.endsWith('/eviction')) end(pod);
    else if (path.endsWith('/status')) nominate(pod, body);
    else takeGateOff(pod, body);
  }

  function nominate(pod: LoopPod, body: unknown): void {
    if (at(body, 'status.nominatedNodeName') === null) {
      put(withoutNomination(pod));
      return;
    }
    const node = textAt(body, 'status.nominatedNodeName');
    put({ ...pod, nominatedTo: node });
    if (isGated(pod)) checkNominated(node);
  }

  function takeGateOff(pod: LoopPod, body: unknown): void {
    const others = [...pods.values()].filter(
      (each) => each.gang === pod.gang && each.gang !== undefined && each.deletionAt === undefined,
    );
    // The first gate goes off only when all pods of the gang have their nodes.
    const isFirst = others.every((each) => isGated(each));
    if (pod.gang !== undefined && isFirst && others.some(({ nominatedTo }) => nominatedTo === undefined))
      broken.push(`${pod.name} goes in without a plan for ${pod.gang}`);
    const mark = { admittedTo: 'of-shop', admittedAt: seconds(), mayPreempt: true, mayBePreempted: true };
    const { gang: admittedAs } = decodeAdmitted(annotationIn(body, ANNOTATION_ADMITTED)) ?? {};
    put({ ...pod, gates: [], ...mark, ...(admittedAs !== undefined && { admittedAs }) });
  }

  /** As kube-scheduler. */
  function schedule(): void {
    const knows = (name: string): boolean => known.has(name);
    const turn = scheduleAll({ ...scheduling, pods: pods.values(), sizes, knows });
    for (const each of turn) {
      const { pod } = each;
      if (each.kind === 'Bound')
        put({ ...withoutNomination(pod), node: each.node, phase: 'Running', startedAt: seconds() });
      else if (each.kind === 'Unplaced') put(withoutNomination(pod));
      else put({ ...pod, nominatedTo: each.node });
      if (each.kind === 'Preempts') for (const victim of each.victims) end(victim);
    }
  }

  function end(pod: LoopPod): void {
    put({ ...pod, deletionAt: seconds() + 1 });
  }

  /** What runs on the node is lost with it. */
  function loseNode(name: string): void {
    sizes.delete(name);
    removeNode(world.snapshot, name);
    for (const pod of pods.values()) if (pod.node === name) put({ ...pod, deletionAt: seconds() });
  }

  function addNode(name: string, cpu: number): void {
    sizes.set(name, cpu);
    putNode(world.snapshot, buildNode({ name, allocatable: { cpu: `${cpu}` } }));
  }

  /** Evicted pods end, and their owners create them again. */
  function passTime(): void {
    for (const pod of [...pods.values()]) {
      if (pod.deletionAt === undefined || pod.deletionAt > seconds()) continue;
      remove(pod.name);
      const { gang, cpu, priority, labels, owner } = pod;
      create({
        cpu,
        priority,
        ...(owner !== undefined && { owner }),
        ...(gang !== undefined && { gang, size: Number(labels?.['plimsoll.dev/gang-size']) }),
      });
    }
  }

  async function pass(): Promise<void> {
    if (!leader.own.isHeld) {
      leader.leading.abort();
      leader = newLeader();
    }
    const { starts, holds, reclaim, letIn, letInPorts, leading, promises } = leader;
    const plan = world.plan(false, 'Guarantees', {
      now: clock.now(),
      promises,
      isHalf: (gang) => holds.isHalf(gang),
      whyGangWaits: (gang) => starts.whyNotNow(gang),
      whyRefused: (uid) => refusalOf(uid, letInPorts),
    });
    await starts.round(plan, leading.signal);
    const starting = starts.settled();
    await letIn(plan.letIn, leading.signal);
    await Promise.race([starting, clock.advance(STEP_MS / 2)]);
    await starting;
    holds.round(plan);
    await holds.settled();
    await reclaim.round(plan, leading.signal);
    await reclaim.settled();
  }

  async function step(): Promise<void> {
    await clock.advance(STEP_MS);
    passTime();
    await pass();
    schedule();
  }

  const runningOf = (gang: string): number =>
    [...pods.values()].filter((pod) => pod.gang === gang && pod.node !== undefined && pod.deletionAt === undefined)
      .length;
  return {
    step,
    pass,
    schedule,
    create,
    createGang,
    remove,
    loseNode,
    addNode,
    broken,
    clock,
    runningOf,
    /** kube-scheduler has forgotten what it knew of pods that do not change. */
    restartScheduler: (): void => {
      known.clear();
      leader.starts.onSchedulerTakeover();
    },
    pods: (): readonly LoopPod[] => [...pods.values()],
    gatedNominations: (): readonly string[] =>
      [...pods.values()].filter((pod) => isGated(pod) && pod.nominatedTo !== undefined).map(({ name }) => name),
    writes: () => writes,
    terms: () => terms,
  };
}

function isGated({ gates = [] }: LoopPod): boolean {
  return gates.length > 0;
}

function annotationIn(body: unknown, key: string): string | undefined {
  const annotations = at(body, 'metadata.annotations');
  const value = (annotations as Readonly<Record<string, unknown>> | undefined)?.[key];
  return typeof value === 'string' ? value : undefined;
}

function withoutNomination(pod: LoopPod): LoopPod {
  const others: { -readonly [Field in keyof LoopPod]: LoopPod[Field] } = { ...pod };
  delete others.nominatedTo;
  return others;
}
