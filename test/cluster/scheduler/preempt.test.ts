import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, eventually, pod } from '#test/contract/harness.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/fake-nodes.ts';
import { freePorts } from '#test/cluster/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/own-cluster.ts';
import { type SchedulerProcess, startSchedulerProcess } from './scheduler-process.ts';

const PODS = '/api/v1/namespaces/default/pods';
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
/** Of the 8 that a node has: one such pod fits on a node, and not two. */
const LARGE = { requests: { cpu: '5' } };
const PATIENCE_MS = 30_000;

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`kube-scheduler with the extender${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const config = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...config, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    const { admin, cluster } = own();
    extender = await startSchedulerProcess(cluster.kubeconfig, port);
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    await createClass('spared', 5, { 'plimsoll.dev/allow-preemption': 'false' });
    await createClass('low', 10);
    await createClass('high', 1000);
    await eventually(async () => {
      const ready = await fetch(`http://127.0.0.1:${extender.healthPort}/readyz`);
      expect(ready.status).toBe(200);
    }, PATIENCE_MS);
  }, 120_000);

  afterAll(() => extender.stop());

  async function createClass(name: string, value: number, annotations: object = {}): Promise<void> {
    const body = { metadata: { name, annotations }, value };
    expect(await own().admin.request({ method: 'POST', path: CLASSES, body })).toMatchObject({ kind: 'ok' });
  }

  async function create(name: string, priorityClassName: string): Promise<void> {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: LARGE }];
    const body = pod(name, { schedulerName: 'default-scheduler', priorityClassName, containers });
    expect(await own().admin.request({ method: 'POST', path: PODS, body })).toMatchObject({ kind: 'ok' });
  }

  /** Names of the pods that are on a node. */
  async function placed(): Promise<readonly string[]> {
    const listed = await own().admin.request({ path: PODS });
    const pods = at(listed, 'object.items') as readonly unknown[];
    return pods
      .filter((each) => at(each, 'spec.nodeName') !== undefined)
      .map((each) => String(at(each, 'metadata.name')));
  }

  test('takes the pod that may go, although the scheduler would have taken the one that opted out', async () => {
    await create('opted-out', 'spared');
    await eventually(async () => expect(await placed()).toEqual(['opted-out']), PATIENCE_MS);
    await create('ordinary', 'low');
    await eventually(async () => expect((await placed()).toSorted()).toEqual(['opted-out', 'ordinary']), PATIENCE_MS);
    await create('important', 'high');
    await eventually(async () => expect((await placed()).toSorted()).toEqual(['important', 'opted-out']), PATIENCE_MS);
  }, 120_000);

  test('takes nobody where only protected pods are left', async () => {
    await create('waiting', 'low');
    await eventually(async () => {
      const found = await own().admin.request({ path: `${PODS}/waiting` });
      expect(at(found, 'object.status.conditions.0.message')).toMatch(/^0\/2 nodes are available: 2 Insufficient cpu/);
    }, PATIENCE_MS);
    expect((await placed()).toSorted()).toEqual(['important', 'opted-out']);
  }, 60_000);

  test('without an answer the scheduler takes whom it would have taken', async () => {
    await extender.stop();
    await own().admin.request({ method: 'DELETE', path: `${PODS}/waiting` });
    await create('second', 'high');
    await eventually(async () => expect((await placed()).toSorted()).toEqual(['important', 'second']), PATIENCE_MS);
  }, 60_000);
});
