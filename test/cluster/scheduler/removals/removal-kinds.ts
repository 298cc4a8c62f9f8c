import { expect } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { at } from '#test/contract/harness.ts';
import { asking, onlyOn, PATIENCE_MS, podPath, RECORDS, removalScene } from '#test/cluster/scheduler/removal-scene.ts';

/** Nodes on which removals have one cause each; those of the other kinds take place on node-0. */
export const NODES = { agent: 'node-1', cordoned: 'node-2', tainted: 'node-3', preempted: 'node-4' } as const;
const LOST = ['node-5', 'node-6'];
export const NODE_COUNT = 7;
/** Of the 8 of a node; the agent's pod has some of the rest. */
const MAX_OF_A_NODE = '6';
const OWNERS = 12;
const GONE = 'test.plimsoll.dev/gone';
/** Forty seconds, two rounds of the collector, and a machine that is slow. */
const COLLECTED_WITHIN_MS = 150_000;
/** More than the limit allows in its window. */
const AT_ONCE = 16;
/** Turns; meanwhile the window of the limit becomes free again. */
const EVICTED_AT_ONCE_EVERY = 25;
/** Time for the pod to run before it is removed. */
const FOR_A_WHILE = { key: GONE, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 };
const TARGET = { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' };
const BECAUSE = { code: 'HardThresholdMet', text: 'memory.available is 90Mi, below the hard threshold of 100Mi' };

/** Removes pods of the namespace `default`, all of them under one limit, in every way that Kubernetes has. */
export function removalKinds(own: () => OwnCluster) {
  const { send, create, makeOwner } = removalScene(own);
  let owners: readonly Awaited<ReturnType<typeof makeOwner>>[] = [];
  let [made, turns] = [0, 0];
  let evictions: readonly object[] = [];
  const lost: string[] = [];
  const answers = { passed: 0, refused: 0 };

  async function open(): Promise<void> {
    owners = await Promise.all(Array.from({ length: OWNERS }, (_, index) => makeOwner(`owner-${index}`)));
    await send('PATCH', `/api/v1/nodes/${NODES.cordoned}`, { spec: { unschedulable: true } });
    const taints = [{ key: GONE, effect: 'NoExecute' }];
    await send('PATCH', `/api/v1/nodes/${NODES.tainted}`, { spec: { taints } });
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: NODES.agent } };
    await send('POST', `${RECORDS}/nodepressures`, { ...head, spec: {} });
  }

  /** Owners take turns, so that each removal has a record of its own. */
  async function place(node: string, spec: object = {}, owner = made % OWNERS) {
    const name = `pod-${(made += 1)}`;
    const metadata = { labels: { app: 'web' }, ownerReferences: [owners[owner]] };
    const placed = { ...asking('1m'), nodeName: node, terminationGracePeriodSeconds: made % 2, ...spec };
    const uid = await create(name, placed, { metadata });
    if (node !== '') await start(name);
    return { name, uid };
  }

  /** Removals of pods that have not run are debited to no limit. */
  const start = (name: string) => send('PATCH', `${podPath('default', name)}/status`, { status: { phase: 'Running' } });

  const remove = (name: string) => send('DELETE', podPath('default', name));

  /** What a limit or a webhook that was killed refuses stays. */
  async function evict({ name, uid }: { readonly name: string; readonly uid: string }): Promise<boolean> {
    const deleteOptions = { preconditions: { uid } };
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions };
    const path = `${podPath('default', name)}/eviction`;
    const { kind } = await own().admin.request({ method: 'POST', path, body });
    if (kind === 'ok') answers.passed += 1;
    if (kind === 'tooManyRequests') answers.refused += 1;
    return kind === 'ok';
  }

  async function evictAtOnce(): Promise<void> {
    const pods = [];
    for (let pod = 0; pod < AT_ONCE; pod += 1) pods.push(await place('node-0'));
    await Promise.all(pods.map(evict));
  }

  const fail = async (status: object) => {
    const { name } = await place('node-0');
    await send('PATCH', `${podPath('default', name)}/status`, { status: { phase: 'Failed', ...status } });
  };

  /** As the agent of the node reports it. */
  async function evictAsAgent(): Promise<void> {
    const pod = await place(NODES.agent);
    if (!(await evict(pod))) return;
    const now = new Date(systemClock.now()).toISOString();
    const facts = { signal: 'memory.available', outcome: 'evicted', requestedAt: now, because: BECAUSE };
    evictions = [{ pod: `default/${pod.name}`, uid: pod.uid, ...facts }, ...evictions].slice(0, 10);
    const status = { observedAt: now, mode: 'Enforce', conditions: [], signals: [], next: [], evictions };
    const contentType = 'application/merge-patch+json';
    const path = `${RECORDS}/nodepressures/${NODES.agent}/status`;
    expect(await own().admin.request({ method: 'PATCH', path, contentType, body: { status } })).toMatchObject({
      kind: 'ok',
    });
  }

  async function preempt(): Promise<void> {
    await place(NODES.preempted, { ...asking(MAX_OF_A_NODE), priorityClassName: 'low' });
    const free = { ...asking(MAX_OF_A_NODE), ...onlyOn(NODES.preempted), priorityClassName: 'high' };
    const { name } = await place('', { ...free, nodeName: undefined });
    await eventually(async () => {
      const preemptor = await send('GET', podPath('default', name));
      expect(at(preemptor, 'spec.nodeName')).toBe(NODES.preempted);
    }, PATIENCE_MS);
    await start(name);
    await remove(name);
    await eventually(async () => {
      const { kind } = await own().admin.request({ path: podPath('default', name) });
      expect(kind).toBe('notFound');
    }, PATIENCE_MS);
  }

  const terminated = { exitCode: 137, reason: 'OOMKilled', startedAt: null, finishedAt: null };
  const killed = { name: 'main', image: 'x', imageID: 'x', ready: false, restartCount: 0, state: { terminated } };
  const kinds: readonly (() => Promise<unknown>)[] = [
    async () => remove((await place('node-0')).name),
    async () => evict(await place('node-0')),
    async () => evict(await place(NODES.cordoned)),
    () => place(NODES.tainted, { tolerations: [FOR_A_WHILE] }),
    () => fail({ reason: 'Evicted', conditions: [TARGET] }),
    () => fail({ containerStatuses: [killed] }),
    evictAsAgent,
    preempt,
  ];

  return {
    open,
    /** How many evictions were let through, and refused because of the limit. */
    answers,
    /** The kinds take turns; now and then many evictions compete for the limit. */
    next: async () => {
      turns += 1;
      await (turns % EVICTED_AT_ONCE_EVERY === 0 ? evictAtOnce() : kinds[turns % kinds.length]?.());
    },
    /** The garbage collector of pods removes those of a Node that is gone, forty seconds later. */
    loseNodes: async () => {
      for (const node of LOST) {
        lost.push((await place(node)).name);
        await send('DELETE', `/api/v1/nodes/${node}`);
      }
    },
    /** Everything else may be over before the garbage collector, which looks every twenty seconds. */
    lostPodsGone: () =>
      eventually(async () => {
        const found = await Promise.all(lost.map((name) => own().admin.request({ path: podPath('default', name) })));
        expect(found.map(({ kind }) => kind)).toEqual(LOST.map(() => 'notFound'));
      }, COLLECTED_WITHIN_MS),
    /** So many pods of one owner are deleted at once. */
    burst: async (count: number) => {
      const pods = [];
      for (let pod = 0; pod < count; pod += 1) pods.push(await place('node-0', {}, 0));
      await Promise.all(pods.map(({ name }) => remove(name)));
    },
  };
}
