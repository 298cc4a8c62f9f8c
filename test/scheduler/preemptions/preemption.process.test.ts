import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { buildKubeconfig } from '#test/build/kubeconfig.ts';
import { type RecordedRequests, recordRequests } from '#test/build/recorded-requests.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';

const TIMEOUT_MS = 60_000;
/** By then anything that the process does because of the last change would have been asked. */
const LATE_MS = 1_000;
const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const MERGE = 'application/merge-patch+json';
const BY_SCHEDULER = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };

describe('the scheduler process while others preempt', { timeout: TIMEOUT_MS }, () => {
  const server = runningApiServer();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  let port = 0;
  let client: KubeClient;
  let requests: RecordedRequests;
  let scheduler: SchedulerProcess;

  beforeAll(async () => {
    const { url, token, caPem: ca } = server();
    client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'test' });
    await installPlimsoll(client);
    const kubeconfig = join(folder, 'kubeconfig');
    requests = await recordRequests({ server: url, ca });
    writeFileSync(kubeconfig, buildKubeconfig({ server: requests.url, ca: requests.caPem }, { token }));
    [port = 0] = await freePorts(1);
    const off = ['--nodes-passes=Off'];
    scheduler = await startSchedulerProcess(kubeconfig, port, ['--preemption-loops-mode=Enforce', ...off]);
    await send('POST', PRESSURES, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressure',
      metadata: { name: 'n0' },
    });
    const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n0' }, status: { allocatable, capacity: allocatable } });
    for (const value of [1, 2, 3, 4])
      await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: `p${value}` }, value });
  }, TIMEOUT_MS);
  afterAll(async () => {
    client.close();
    await scheduler.stop();
    await requests.stop();
    rmSync(folder, { recursive: true });
  });

  async function send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object): Promise<unknown> {
    const outcome = await client.request({ method, path, body, ...(method === 'PATCH' && { contentType: MERGE }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  const create = (name: string, spec: object, metadata: object = {}) => send('POST', PODS, pod(name, spec, metadata));
  const patchStatus = (name: string, status: object) => send('PATCH', `${PODS}/${name}/status`, { status });
  const remove = (name: string) => send('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
  const counts = (text: string) =>
    eventually(async () => expect(await scheduler.metrics()).toContain(text), TIMEOUT_MS);

  async function nodesLeft(preemptor: unknown, victim: unknown): Promise<readonly string[]> {
    const Pods = [{ UID: at(victim, 'metadata.uid') }];
    const body = JSON.stringify({ Pod: preemptor, NodeNameToMetaVictims: { n0: { Pods, NumPDBViolations: 0 } } });
    const answer = await fetch(`http://127.0.0.1:${port}/preempt`, { method: 'POST', body });
    return Object.keys(at(await answer.json(), 'NodeNameToMetaVictims') as object);
  }

  /** One of the pods makes way for the other, and both go. */
  async function preempt(round: number): Promise<void> {
    const [victim = '', preemptor = ''] = round % 2 === 0 ? ['b', 'a'] : ['a', 'b'];
    await create(victim, { nodeName: 'n0', priorityClassName: `p${round}` });
    await create(preemptor, { priorityClassName: `p${round + 1}` });
    await patchStatus(preemptor, { nominatedNodeName: 'n0' });
    await patchStatus(victim, { conditions: [BY_SCHEDULER] });
    await counts(`plimsoll_extender_preempted_pods_total{budget="Kept"} ${round}`);
    for (const name of [victim, preemptor]) await remove(name);
  }

  test('the fourth preemption in turn by two pods is refused, and an Event names both (S0-21)', async () => {
    const a = pod('a', { priority: 2 }, { namespace: 'default', uid: 'u' });
    for (const round of [1, 2]) await preempt(round);
    const early = await create('b', { nodeName: 'n0', priorityClassName: 'p1' });
    await eventually(async () => expect(await nodesLeft(a, early)).toEqual(['n0']), TIMEOUT_MS);
    await remove('b');
    await preempt(3);
    const b = await create('b', { nodeName: 'n0', priorityClassName: 'p1' });
    // A node is taken away also while a victim is unknown.
    const other = pod('other', { priority: 4 }, { namespace: 'default', uid: 'v' });
    await eventually(async () => expect(await nodesLeft(other, b)).toEqual(['n0']), TIMEOUT_MS);
    await eventually(async () => expect(await nodesLeft(a, b)).toEqual([]), TIMEOUT_MS);
    expect(await scheduler.metrics()).toContain('plimsoll_extender_preemption_loops_total{mode="Enforce"} 1');
    await eventually(async () => {
      const events = at(await client.request({ path: EVENTS }), 'object.items') as readonly unknown[];
      expect(events.filter((event) => at(event, 'reason') === 'PreemptionLoopDetected')).toMatchObject([
        {
          regarding: { kind: 'Pod', name: 'a' },
          related: { kind: 'Pod', name: 'b' },
          note: 'pods of default/Pod/a and default/Pod/b displace each other: 3 times within 60 min, last on node n0',
        },
      ]);
    }, TIMEOUT_MS);
    const higher = pod('a', { priority: 3 }, { namespace: 'default', uid: 'w' });
    expect(await nodesLeft(higher, b), 'a pod of higher priority than the first round had').toEqual(['n0']);
  });

  test('the NodePressure of the node records the loop of the two pods', async () => {
    const party = (name: string) => ({ namespace: 'default', kind: 'Pod', name });
    await eventually(async () => {
      const spec = at(await client.request({ path: `${PRESSURES}/n0` }), 'object.spec');
      expect(spec).toMatchObject({
        preemptionLoops: [
          { preemptor: party('b'), victim: party('a'), rounds: { length: 3 }, priority: 2, action: 'Refuse' },
        ],
      });
    }, TIMEOUT_MS);
  });

  test('a preemption that breaches a spent budget is counted, and the log names both (S1-17)', async () => {
    const labels = { app: 'db' };
    await send('POST', BUDGETS, {
      metadata: { name: 'db' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    await create('db-0', { nodeName: 'n0', priorityClassName: 'p1' }, { labels });
    await patchStatus('db-0', { conditions: [BY_SCHEDULER] });
    await counts('plimsoll_extender_preempted_pods_total{budget="Breached"} 1');
    expect(scheduler.log()).toMatch(/"pod":"default\/db-0","node":"n0","budgets":\["default\/db"\]/);
  });

  test('what a victim uses up of a budget is debited before its status says so (S1-17)', async () => {
    const labels = { app: 'web' };
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    const names = ['web-0', 'web-1', 'web-2'];
    for (const name of names) {
      await create(name, { nodeName: 'n0', priorityClassName: 'p1' }, { labels });
      await patchStatus(name, ready);
    }
    const spec = { minAvailable: 2, selector: { matchLabels: labels } };
    await send('POST', BUDGETS, { metadata: { name: 'web' }, spec });
    await eventually(async () => {
      expect(at(await client.request({ path: `${BUDGETS}/web` }), 'object.status.disruptionsAllowed')).toBe(1);
    }, TIMEOUT_MS);
    const [kept, breached] = [await preempted('Kept'), await preempted('Breached')];
    // Both stay ready, so nothing but the debit tells them apart.
    for (const name of names.slice(0, 2)) await patchStatus(name, { conditions: [...ready.conditions, BY_SCHEDULER] });
    await eventually(async () => {
      expect([await preempted('Kept'), await preempted('Breached')]).toEqual([kept + 1, breached + 1]);
    }, TIMEOUT_MS);
    expect(scheduler.log()).toMatch(/"pod":"default\/web-1","node":"n0","budgets":\["default\/web"\]/);
    expect(scheduler.log()).not.toMatch(/"pod":"default\/web-0","node":"n0","budgets"/);
  });

  async function preempted(budget: string): Promise<number> {
    const counted = new RegExp(`plimsoll_extender_preempted_pods_total\\{budget="${budget}"\\} (\\d+)`);
    return Number(counted.exec(await scheduler.metrics())?.[1]);
  }

  test('a pod that a kubelet refuses because another scheduler was faster is counted and logged, and no other pod goes (S0-20)', async () => {
    await create('faster', { nodeName: 'n0', priorityClassName: 'p1' });
    await create('late', { nodeName: 'n0', priorityClassName: 'p2' });
    await patchStatus('late', { phase: 'Failed', reason: 'OutOfcpu' });
    await counts('plimsoll_extender_refused_pods_total{reason="OutOfcpu"} 1');
    expect(scheduler.log()).toMatch(/"pod":"default\/late","node":"n0","reason":"OutOfcpu"/);
    // What it did because of the first it has done before it counts the second.
    await create('later', { nodeName: 'n0', priorityClassName: 'p2' });
    await patchStatus('later', { phase: 'Failed', reason: 'OutOfcpu' });
    await counts('plimsoll_extender_refused_pods_total{reason="OutOfcpu"} 2');
    for (const name of ['faster', 'late', 'db-0']) {
      const found = await client.request({ path: `${PODS}/${name}` });
      expect([at(found, 'kind'), at(found, 'object.metadata.deletionTimestamp')]).toEqual(['ok', undefined]);
    }
  });

  test('the extender as it is shipped spares the owner that was disrupted a moment ago (S3-8)', async () => {
    const allocatable = { cpu: '1500m', memory: '1Gi', pods: '10' };
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n1' }, status: { allocatable, capacity: allocatable } });
    const annotations = { 'plimsoll.dev/allow-preemption': 'false' };
    await send('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'kept', annotations },
      value: 1,
    });
    const half = { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '500m' } } }] };
    // What has no owner that exists is collected as garbage.
    const owner = async (name: string) => {
      const made = await send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } });
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name, uid: at(made, 'metadata.uid'), controller: true };
      return { ownerReferences: [reference] };
    };
    const ownersOf = { left: await owner('left'), right: await owner('right') };
    const placed = (name: string, metadata: object, priorityClassName = 'p1') =>
      create(name, { ...half, nodeName: 'n1', priorityClassName }, metadata);
    const stays = await placed('stays', {}, 'kept');
    const owners: Readonly<Record<string, keyof typeof ownersOf>> = {
      [textAt(await placed('left-0', ownersOf.left), 'metadata.uid')]: 'left',
      [textAt(await placed('right-0', ownersOf.right), 'metadata.uid')]: 'right',
    };
    const incoming = pod('incoming', { ...half, priority: 4 }, { namespace: 'default', uid: 'i' });
    /** The owner of the pod that the extender takes in place of the one that opted out. */
    const taken = async () => {
      const Pods = [{ UID: at(stays, 'metadata.uid') }];
      const body = JSON.stringify({ Pod: incoming, NodeNameToMetaVictims: { n1: { Pods, NumPDBViolations: 0 } } });
      const answer = await fetch(`http://127.0.0.1:${port}/preempt`, { method: 'POST', body });
      const uids = at(await answer.json(), 'NodeNameToMetaVictims.n1.Pods') as readonly { readonly UID: string }[];
      return uids.map(({ UID }) => owners[UID]);
    };
    const first = await eventually(async () => {
      const [name] = await taken();
      if (name === undefined) throw new Error('nothing is taken in its place yet');
      return name;
    }, TIMEOUT_MS);
    await placed('another', ownersOf[first]);
    await remove('another');
    const other = first === 'left' ? 'right' : 'left';
    await eventually(async () => expect(await taken()).toEqual([other]), TIMEOUT_MS);
  });

  test('in all of that the process deleted and evicted no pod (S0-4, S0-20)', async () => {
    await letTimePass(LATE_MS, 'unseen');
    const written = requests.writes();
    expect(written.length).toBeGreaterThan(0);
    expect(written.filter((each) => /^DELETE|\/(?:eviction|binding)\b/.test(each))).toEqual([]);
  });

  test('the extender as it is shipped counts a gang as one victim', async () => {
    const allocatable = { cpu: '1', memory: '1Gi', pods: '10' };
    await send('POST', '/api/v1/nodes', { metadata: { name: 'n2' }, status: { allocatable, capacity: allocatable } });
    const labels = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '2' };
    const spec = (nodeName: string) => ({ nodeName, priorityClassName: 'p1' });
    const member = await create('train-0', spec('n0'), { labels });
    const single = await create('single', spec('n2'));
    const preemptor = pod('above', { priority: 4 }, { namespace: 'default', uid: 'above' });
    const uidOf = (victim: unknown) => ({ Pods: [{ UID: at(victim, 'metadata.uid') }], NumPDBViolations: 0 });
    const body = JSON.stringify({
      Pod: preemptor,
      NodeNameToMetaVictims: { n0: uidOf(member), n2: uidOf(single) },
    });
    const left = async (): Promise<readonly string[]> => {
      const answer = await fetch(`http://127.0.0.1:${port}/preempt`, { method: 'POST', body });
      return Object.keys(at(await answer.json(), 'NodeNameToMetaVictims') as object).sort();
    };
    expect(await left(), 'a gang below its minimum has nothing to lose').toEqual(['n0', 'n2']);
    await create('train-1', spec('n2'), { labels });
    await eventually(async () => expect(await left()).toEqual(['n2']), TIMEOUT_MS);
  });
});
