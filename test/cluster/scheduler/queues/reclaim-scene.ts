import { expect } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually } from '#test/build/waiting.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { gatesOf, PATIENCE_MS, podOf, pods, QUEUES, queueScene } from './queue-scene.ts';

const TEAM = 'team';
const NOTHING = { gracePeriodSeconds: 0 };

/** A pod of a queue, which takes a second to end. */
export interface QueuePodPlan {
  readonly name: string;
  readonly queue: string;
  /** Of 8 on each node; 4 where it does not say. */
  readonly cpu?: string;
  readonly node?: string;
  readonly className?: string;
  readonly application?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly graceSeconds?: number;
}

/** A pod whose queue is under its guarantee. */
export const TAKER: QueuePodPlan = { name: 'taker', queue: 'prod' };
export const GUARANTEED = { prod: { guaranteed: { cpu: 8 } }, test: {} };

/** Pods of 4 CPUs, two on each node: four fill the cluster. They start one after the other. */
export function fill(
  queue: string,
  names: readonly string[],
  more: Partial<QueuePodPlan> = {},
): readonly QueuePodPlan[] {
  return names.map((name) => ({ name, queue, node: 'ab'.includes(name) ? 'node-0' : 'node-1', ...more }));
}

/** Two nodes of 8 CPUs, and one managed namespace whose pods name their queue. */
export function reclaimScene(own: () => OwnCluster, reclaim: object = { mode: 'Enforce' }) {
  const scene = queueScene(own);
  const ended = new AbortController();
  let replicas: readonly SchedulerProcess[] = [];
  let record: SchedulerProcess | undefined;
  let ending: Promise<void> | undefined;

  async function open(): Promise<void> {
    await scene.install();
    await scene.manage(TEAM, { team: TEAM });
    await makeFakeNodes(own().admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(own().admin)).toBe(2), PATIENCE_MS);
    ending = endTerminatedPods(own().admin, ended.signal);
    replicas = [await startReplica()];
  }

  /** Starts the record of removed pods, too. */
  async function startRecord(): Promise<void> {
    record = await startShipped(own(), 'disruption-record');
  }

  const startReplica = (): Promise<SchedulerProcess> => scene.startLeader();

  async function close(): Promise<void> {
    ended.abort();
    await ending;
    await Promise.all([...replicas.map((each) => each.stop()), record?.stop()]);
  }

  /** Kills the leader without a word and starts another. */
  async function replaceLeader(): Promise<void> {
    await Promise.all(replicas.map((each) => each.kill()));
    replicas = [await startReplica()];
  }

  async function list(): Promise<readonly object[]> {
    return at((await scene.user()('GET', pods(TEAM))).body, 'items') as readonly object[];
  }

  async function createPod(plan: QueuePodPlan): Promise<void> {
    const { name, queue, cpu = '4', node, className, application, labels = {}, annotations = {} } = plan;
    const spec = {
      terminationGracePeriodSeconds: plan.graceSeconds ?? 1,
      ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
      ...(className !== undefined && { priorityClassName: className }),
    };
    const own = { 'plimsoll.dev/queue': queue, 'plimsoll.dev/application': application ?? name };
    await scene.create(pods(TEAM), podOf(name, spec, { labels: { ...own, ...labels }, annotations }, cpu));
  }

  /** Nothing is left of what was before. */
  async function clear(): Promise<void> {
    const remove = (path: string, body: object = {}) => own().admin.request({ method: 'DELETE', path, body });
    await remove(`/apis/apps/v1/namespaces/${TEAM}/replicasets`);
    await remove(`/apis/policy/v1/namespaces/${TEAM}/poddisruptionbudgets`);
    await eventually(async () => {
      for (const namespace of [TEAM, 'default']) await remove(pods(namespace), NOTHING);
      expect(await list()).toEqual([]);
    }, PATIENCE_MS);
    await remove(`/apis/events.k8s.io/v1/namespaces/${TEAM}/events`);
    await remove(QUEUES);
    await scene.queue('root', { reclaim });
  }

  /** Queues by name, and pods on nodes, each started a minute after the one before. */
  async function begin(queues: Readonly<Record<string, object>>, running: readonly QueuePodPlan[]): Promise<void> {
    await clear();
    await fillUp(queues, running);
  }

  /** The same beside what is there. */
  async function fillUp(queues: Readonly<Record<string, object>>, running: readonly QueuePodPlan[]): Promise<void> {
    for (const [name, spec] of Object.entries(queues)) {
      const preemption = { delay: '1s', ...(at(spec, 'preemption') as object | undefined) };
      if (name === 'root') {
        expect((await scene.user()('PATCH', `${QUEUES}/root`, { spec })).status).toBe(200);
        continue;
      }
      await scene.queue(name, { namespaceSelector: { matchLabels: { team: TEAM } }, ...spec, preemption });
    }
    let startedAt = systemClock.now() - 3_600_000;
    for (const each of running) {
      await createPod(each);
      await eventually(async () => expect(await onNodes()).toContain(each.name), PATIENCE_MS);
      await runAsKubelet(each.name, startedAt);
      startedAt += 60_000;
    }
  }

  /** No kubelet stands behind the nodes. */
  async function runAsKubelet(name: string, startedAt: number): Promise<void> {
    const startTime = new Date(startedAt).toISOString();
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: startTime };
    const status = { phase: 'Running', startTime, conditions: [ready] };
    expect((await scene.user()('PATCH', `${pods(TEAM, name)}/status`, { status })).status).toBe(200);
  }

  /** The names of pods that are on a node and stay there. */
  async function onNodes(): Promise<readonly string[]> {
    const bound = (await list()).filter((each) => at(each, 'spec.nodeName') !== undefined);
    return bound
      .filter(isStaying)
      .map((each) => textAt(each, 'metadata.name'))
      .sort();
  }

  async function get(name: string): Promise<unknown> {
    return (await scene.user()('GET', pods(TEAM, name))).body;
  }

  /** The notes of Events with this reason, in order: about a pod, or about all pods since `begin`. */
  async function notes(reason: string, name?: string): Promise<readonly string[]> {
    const uid = name === undefined ? undefined : at(await get(name), 'metadata.uid');
    const { body } = await scene.user()('GET', `/apis/events.k8s.io/v1/namespaces/${TEAM}/events`);
    const events = (at(body, 'items') as readonly object[]).filter((each) => at(each, 'reason') === reason);
    return events
      .filter((each) => uid === undefined || at(each, 'regarding.uid') === uid)
      .map((each) => textAt(each, 'note'));
  }

  /** Waits until the pod has no gate and a node, and returns who is on nodes then. */
  async function untilPlaced(name: string): Promise<readonly string[]> {
    await eventually(async () => expect(await onNodes()).toContain(name), PATIENCE_MS);
    return onNodes();
  }

  /** Waits until the pod was told that nobody makes room for it, and returns why. */
  async function untilNoRoom(name: string): Promise<readonly string[]> {
    return eventually(async () => {
      const said = await notes('NoRoomReclaimed', name);
      expect(said.length).toBeGreaterThan(0);
      return said;
    }, PATIENCE_MS);
  }

  const log = (): string => replicas.map((each) => each.log()).join('');
  return {
    ...scene,
    open,
    startRecord,
    close,
    clear,
    begin,
    fillUp,
    runAsKubelet,
    createPod,
    list,
    get,
    notes,
    onNodes,
    untilPlaced,
    untilNoRoom,
    replaceLeader,
    log,
  };
}

function isStaying(pod: object): boolean {
  return at(pod, 'metadata.deletionTimestamp') === undefined;
}

/** Whether our gate holds the pod back. */
export function isGated(pod: unknown): boolean {
  return gatesOf(pod).includes('plimsoll.dev/queue');
}

export { TEAM };
