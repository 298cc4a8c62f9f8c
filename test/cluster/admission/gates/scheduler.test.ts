import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';
import { clusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { tenantOf } from '#test/cluster/admission/support/tenant.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const ALLOW_PREEMPTION = 'plimsoll.dev/allow-preemption';
const REFUSED =
  /^plimsoll_webhook_decisions_total\{webhook="\/validate\/deletions",reason="DisruptionUnwanted"\} (\d+)$/m;
const WATCHED_MS = 6_000;
/** After a 403 the scheduler would retry 36 times a second. */
const MAX_REFUSALS = 10;
const PATIENCE_MS = 60_000;

describe.skipIf(!hasCluster())('kube-scheduler, where a pod may not be preempted', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const { processes } = registeredWebhooks(api);
  const path = (name: string): string => api.core(`pods/${name}`);
  let node: string;

  beforeAll(async () => {
    [node = ''] = await makeFakeNodes(api.client, uniqueName('small'), 1);
    const low = await objects.priorityClass('low', 1, {}, { annotations: { [ALLOW_PREEMPTION]: 'by-pod' } });
    const high = await objects.priorityClass('high', 100);
    await place('steady', low, { annotations: { [ALLOW_PREEMPTION]: 'false' } });
    await eventually(async () => expect(await nodeOf('steady')).toBe(node), PATIENCE_MS);
    await place('urgent', high);
  });
  afterAll(() => api.remove(`/api/v1/nodes/${node}`));

  async function place(name: string, priorityClassName: string, metadata: object = {}): Promise<void> {
    const placed = podOn(node, name, priorityClassName, metadata);
    expect((await api.post(api.core('pods'), placed)).status).toBe(201);
  }

  async function nodeOf(name: string): Promise<unknown> {
    return at((await api.get(path(name))).body, 'spec.nodeName');
  }

  async function refusals(): Promise<number> {
    const texts = await Promise.all(processes.map((each) => each.metrics()));
    return texts.reduce((sum, text) => sum + Number(REFUSED.exec(text)?.[1] ?? 0), 0);
  }

  test('asks for it, is refused, and does not retry in a loop', async () => {
    await eventually(async () => expect(await refusals()).toBeGreaterThan(0), PATIENCE_MS);
    const before = await refusals();
    await letTimePass(WATCHED_MS, 'watched');
    expect((await refusals()) - before).toBeLessThan(MAX_REFUSALS);
    expect(await nodeOf('steady')).toBe(node);
    expect(await nodeOf('urgent')).toBeUndefined();
  });

  test('preempts it when the owner allows it', async () => {
    const allowed = await api.patch(
      path('steady'),
      { metadata: { annotations: { [ALLOW_PREEMPTION]: null } } },
      'merge',
    );
    expect(allowed.status).toBe(200);
    await eventually(async () => expect(await nodeOf('urgent')).toBe(node), PATIENCE_MS);
    expect((await api.get(path('steady'))).status).toBe(404);
  });

  test("preempts a tenant's pod that opts out without permission of its class", async () => {
    const plain = await objects.priorityClass('plain', 1);
    const higher = await objects.priorityClass('higher', 1_000);
    const [other = ''] = await makeFakeNodes(api.client, uniqueName('other'), 1);
    const tenant = await tenantOf(api);
    const steady = podOn(other, 'immune', plain, { annotations: { [ALLOW_PREEMPTION]: 'false' } });
    expect((await tenant('POST', api.core('pods'), steady)).status).toBe(201);
    await eventually(async () => expect(await nodeOf('immune')).toBe(other), PATIENCE_MS);
    expect((await api.post(api.core('pods'), podOn(other, 'critical', higher))).status).toBe(201);
    await eventually(async () => expect(await nodeOf('critical')).toBe(other), PATIENCE_MS);
    expect((await api.get(path('immune'))).status).toBe(404);
    await api.remove(`/api/v1/nodes/${other}`);
  });

  test('S2-29: preempts a pod that opted out for a DaemonSet, where its node holds no other', async () => {
    const low = await objects.priorityClass('kept', 1, {}, { annotations: { [ALLOW_PREEMPTION]: 'false' } });
    const high = await objects.priorityClass('daemon', 100);
    const [alone = ''] = await makeFakeNodes(api.client, uniqueName('alone'), 1);
    expect((await api.post(api.core('pods'), podOn(alone, 'kept', low))).status).toBe(201);
    await eventually(async () => expect(await nodeOf('kept')).toBe(alone), PATIENCE_MS);
    const { metadata, spec } = podOn(alone, 'daemon', high) as { metadata: object; spec: object };
    const labels = { app: uniqueName('daemon') };
    const template = { metadata: { ...metadata, labels }, spec };
    const daemonSets = api.core('daemonsets').replace('/api/v1/', '/apis/apps/v1/');
    const daemonSet = { metadata: { name: 'daemon' }, spec: { selector: { matchLabels: labels }, template } };
    expect((await api.post(daemonSets, daemonSet)).status).toBe(201);
    await eventually(async () => {
      const pods = at((await api.get(api.core('pods'))).body, 'items') as readonly unknown[];
      const made = pods.filter((each) => at(each, 'metadata.generateName') === 'daemon-');
      expect(made.map((each) => at(each, 'spec.nodeName'))).toEqual([alone]);
    }, PATIENCE_MS);
    expect((await api.get(path('kept'))).status).toBe(404);
    await api.remove(`/api/v1/nodes/${alone}`);
  }, 120_000);
});

/** Two of these do not fit on a node. */
function podOn(node: string, name: string, priorityClassName: string, metadata: object = {}): object {
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '6' } } }];
  const nodeSelector = { 'kubernetes.io/hostname': node };
  return pod(name, { containers, nodeSelector, schedulerName: 'default-scheduler', priorityClassName }, metadata);
}
