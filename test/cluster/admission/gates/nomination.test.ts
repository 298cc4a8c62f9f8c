import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const PATIENCE_MS = 50_000;
/** No kubelet terminates pods on these nodes, so a victim stays terminating and its preemptor nominated. */
const STAYS = { terminationGracePeriodSeconds: 25 };
const WATCHED_MS = 3_000;
/** Share of a node's capacity. */
const [HALF, WHOLE] = ['4', '8'];

/** The behaviour of kube-scheduler itself, which stays the same when Plimsoll checks pods, deletions and evictions. */
describe.skipIf(!hasCluster())('kube-scheduler, with the webhook registered', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const classes = { low: '', patient: '', middle: '', high: '' };
  const pool = uniqueName('pool');
  const nodes: string[] = [];
  const nodePath = (name: string): string => `/api/v1/nodes/${name}`;

  beforeAll(async () => {
    classes.low = await objects.priorityClass('low', 1);
    classes.patient = await objects.priorityClass('patient', 50, { preemptionPolicy: 'Never' });
    classes.middle = await objects.priorityClass('middle', 100);
    classes.high = await objects.priorityClass('high', 1_000);
  });
  afterAll(async () => {
    await api.remove(api.core('pods'), { gracePeriodSeconds: 0 });
    for (const node of nodes) await api.remove(nodePath(node));
  });

  /** A node of the pool, filled with a low and a middle pod before other pods can use it. */
  async function takenNode(low: string, middle: string): Promise<string> {
    const [node = ''] = await makeFakeNodes(api.client, uniqueName('taken'), 1);
    nodes.push(node);
    await place(low, 'low', HALF, { nodeName: node, ...STAYS });
    await place(middle, 'middle', HALF, { nodeName: node, ...STAYS });
    expect((await api.patch(nodePath(node), { metadata: { labels: { pool } } }, 'merge')).status).toBe(200);
    return node;
  }

  async function place(name: string, className: keyof typeof classes, cpu: string, spec: object = {}): Promise<void> {
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu } } }];
    const usual = { schedulerName: 'default-scheduler', nodeSelector: { pool } };
    await make(name, className, { ...usual, containers, ...spec });
  }

  async function make(name: string, className: keyof typeof classes, spec: object, metadata: object = {}) {
    const body = pod(name, { priorityClassName: classes[className], ...spec }, metadata);
    const { status, body: answer } = await api.post(api.core('pods'), body);
    expect([status, at(answer, 'message')]).toEqual([201, undefined]);
  }

  async function seen(name: string, field: string): Promise<unknown> {
    return at((await api.get(api.core(`pods/${name}`))).body, field);
  }

  async function isNominated(name: string, node: string): Promise<void> {
    await eventually(async () => expect(await seen(name, 'status.nominatedNodeName')).toBe(node), PATIENCE_MS);
  }

  /** The terminating pods. */
  async function ending(...names: readonly string[]): Promise<readonly string[]> {
    const deletions = await Promise.all(names.map((name) => seen(name, 'metadata.deletionTimestamp')));
    return names.filter((_, index) => deletions[index] !== undefined);
  }

  test('gives every pod a priority, and preempts nothing for a pod whose class never preempts', async () => {
    await takenNode('one', 'two');
    await place('waiting', 'patient', HALF);
    await eventually(async () => {
      const conditions = await seen('waiting', 'status.conditions');
      expect(conditions).toContainEqual(expect.objectContaining({ type: 'PodScheduled', reason: 'Unschedulable' }));
    }, PATIENCE_MS);
    await letTimePass(WATCHED_MS, 'watched');
    expect(await Promise.all(['one', 'waiting'].map((name) => seen(name, 'spec.priority')))).toEqual([1, 50]);
    expect([await ending('one', 'two'), await seen('waiting', 'status.nominatedNodeName')]).toEqual([[], undefined]);
  });

  test('preempts a lower pod with its own grace period for any other pod, whose nomination ends when a higher pod needs the node', async () => {
    const [node = ''] = nodes;
    await place('preemptor', 'middle', HALF);
    await isNominated('preemptor', node);
    await eventually(async () => expect(await ending('one', 'two')).toEqual(['one']));
    await place('urgent', 'high', WHOLE, { nodeSelector: { 'kubernetes.io/hostname': node } });
    await isNominated('urgent', node);
    await eventually(async () => {
      expect(await ending('one', 'two')).toEqual(['one', 'two']);
      expect(await seen('preemptor', 'status.nominatedNodeName')).toBeUndefined();
    }, PATIENCE_MS);
    expect(await seen('one', 'metadata.deletionGracePeriodSeconds')).toBe(STAYS.terminationGracePeriodSeconds);
  });

  describe('a pod that requests nothing', () => {
    const port = { containers: [{ name: 'main', image: 'x', ports: [{ containerPort: 80, hostPort: 8080 }] }] };
    const labelSelector = { matchLabels: { app: 'rival' } };
    const apart = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname', labelSelector }],
        },
      },
    };

    test.each([
      ['holds the host port', port, port],
      ['matches the anti-affinity', {}, apart],
    ])('is taken where it %s of a higher one', async (_, held, wanted) => {
      const [node = ''] = await makeFakeNodes(api.client, uniqueName('free'), 1);
      nodes.push(node);
      const [rival, bystander, preemptor] = [uniqueName('rival'), uniqueName('bystander'), uniqueName('preemptor')];
      await make(rival, 'low', { nodeName: node, ...STAYS, ...held }, { labels: { app: 'rival' } });
      await make(bystander, 'low', { nodeName: node, ...STAYS });
      const nodeSelector = { 'kubernetes.io/hostname': node };
      await make(preemptor, 'high', { schedulerName: 'default-scheduler', nodeSelector, ...wanted });
      await isNominated(preemptor, node);
      await eventually(async () => expect(await ending(rival, bystander)).toEqual([rival]));
    });
  });

  test('lets the pod that lost its nomination preempt elsewhere', async () => {
    const other = await takenNode('three', 'four');
    await isNominated('preemptor', other);
    await eventually(async () => expect(await ending('three', 'four')).toEqual(['three']));
    expect(await seen('urgent', 'status.nominatedNodeName')).toBe(nodes[0]);
  });
});
