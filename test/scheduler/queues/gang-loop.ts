import { decodeAdmitted } from '#shared/api/admitted.ts';
import { ANNOTATION_ADMITTED } from '#shared/kube/api-names.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { HoldGangs } from '#scheduler/queues/hold-gangs.ts';
import { letPodsIn, type Refusal, refusalOf } from '#scheduler/queues/let-pods-in.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { StartGangs } from '#scheduler/queues/start-gangs.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, type NodeSizes, queueFor, queueWorld, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

export const START_MS = 3_600_000;
const STEP_MS = 1_000;
export const TIMEOUT_MS = 60_000;

export interface LoopPod extends WatchedPod {
  readonly cpu: number;
  readonly priority: number;
  readonly createdAt: number;
  readonly gang?: string;
}

/** What becomes of a write: it takes effect or not, and the leader may be gone afterwards. */
export interface Fate {
  /** It does not take effect, and this is the answer. */
  readonly failure?: 'timeout' | 'conflict' | undefined;
  readonly isFatal?: boolean;
}

export interface GangLoopSettings {
  readonly nodes: NodeSizes;
  readonly queue?: object;
  readonly fateOf?: (write: number, request: KubeRequest) => Fate;
}

/**
 * A cluster that answers: kube-scheduler places what has no gate, by priority and age, and keeps the room of the
 * nominations that it knows; owners create evicted pods again; the leader is replaced where a write was fatal.
 */
export function gangLoop({ nodes, queue = {}, fateOf = () => ({}) }: GangLoopSettings) {
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
    checkNominations();
  }

  /** Nothing is nominated to a node beyond what it has, beside what runs there. */
  function checkNominations(): void {
    for (const [node, size] of sizes) {
      const held = [...pods.values()].filter(
        (pod) => (pod.node ?? (isGated(pod) ? pod.nominatedTo : undefined)) === node,
      );
      const gated = held.filter(isGated);
      const sum = held.reduce((total, { cpu }) => total + cpu, 0);
      // A higher pod may take room that was set aside.
      if (gated.length > 0 && gated.reduce((total, { cpu }) => total + cpu, 0) > size)
        broken.push(`${node} is nominated beyond ${size}: ${sum}`);
    }
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
    const leading = new AbortController();
    const { client } = scriptedClient((request) => answer(request, own));
    const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
    const metrics = createQueueMetrics(createMetrics('scheduler'));
    const term = { isHeld: () => own.isHeld };
    const letInPorts = {
      client,
      clock,
      log,
      pods: world.pods,
      metrics,
      term,
      classOf: () => undefined,
      refused: new Map<string, Refusal>(),
    };
    const letIn = (list: readonly WaitingPod[], signal: AbortSignal): Promise<void> =>
      letPodsIn({ letIn: list, released: [] }, letInPorts, signal);
    const ports = {
      client,
      clock,
      log,
      pods: world.pods,
      snapshot: world.snapshot,
      term,
      metrics,
      leading: leading.signal,
      letIn,
      events: { record: () => undefined },
    };
    const starts = new StartGangs(ports);
    const holds = new HoldGangs({ ...ports, starts, timeoutMs: () => TIMEOUT_MS });
    const reclaim = new Reclaim({ ...ports, settings: () => ({ mode: 'DryRun', overuse: 'Keep' }) });
    return { own, leading, starts, holds, reclaim, letIn, letInPorts };
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
    if (path.endsWith('/eviction')) put({ ...pod, deletionAt: seconds() + 1 });
    else if (path.endsWith('/status')) nominate(pod, body);
    else takeGateOff(pod, body);
  }

  function nominate(pod: LoopPod, body: unknown): void {
    const node = at(body, 'status.nominatedNodeName');
    put({
      ...withoutNomination(pod),
      ...(node !== null && { nominatedTo: textAt(body, 'status.nominatedNodeName') }),
    });
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
    const pending = [...pods.values()].filter(
      (pod) => !isGated(pod) && pod.node === undefined && pod.deletionAt === undefined,
    );
    pending.sort((a, b) => b.priority - a.priority || a.createdAt - b.createdAt);
    for (const pod of pending) {
      const first = pod.nominatedTo !== undefined && known.has(pod.name) ? [pod.nominatedTo] : [];
      const node = [...first, ...sizes.keys()].find((name) => freeOn(name, pod) >= pod.cpu);
      if (node === undefined) put(withoutNomination(pod));
      else put({ ...withoutNomination(pod), node, phase: 'Running', startedAt: seconds() });
    }
  }

  function freeOn(node: string, { name, priority }: LoopPod): number {
    const counts = (each: LoopPod): boolean =>
      each.node === node ||
      (each.node === undefined &&
        each.nominatedTo === node &&
        known.has(each.name) &&
        each.priority >= priority &&
        each.name !== name);
    return (sizes.get(node) ?? 0) - [...pods.values()].filter(counts).reduce((sum, { cpu }) => sum + cpu, 0);
  }

  /** Evicted pods end, and their owners create them again. */
  function passTime(): void {
    for (const pod of [...pods.values()]) {
      if (pod.deletionAt === undefined || pod.deletionAt > seconds()) continue;
      remove(pod.name);
      const { gang, cpu, priority, labels } = pod;
      create({ cpu, priority, ...(gang !== undefined && { gang, size: Number(labels?.['plimsoll.dev/gang-size']) }) });
    }
  }

  async function pass(): Promise<void> {
    if (!leader.own.isHeld) {
      leader.leading.abort();
      leader = newLeader();
    }
    const { starts, holds, reclaim, letIn, letInPorts, leading } = leader;
    const plan = world.plan(false, 'Guarantees', {
      now: clock.now(),
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
