import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/cluster-target.ts';
import { at, contractHarness, eventually, pod } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn } from './cluster-objects.ts';
import { registeredWebhooks } from './registered-webhooks.ts';

describe.skipIf(!hasCluster())('priorities, with the webhook registered', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const pods = (): string => api.core('pods');
  const names = { standard: '', high: '' };

  beforeAll(async () => {
    names.standard = await objects.priorityClass('standard', 100);
    names.high = await objects.priorityClass('high', 1_000);
    const limits = { defaultPriorityClassName: names.standard, maxPriority: 500 };
    await objects.policy('policy', { namespaceSelector: onlyIn(api), ...limits });
    await eventually(async () => {
      const { body } = await api.post(pods(), pod('probe'), { query: { dryRun: 'All' } });
      expect(at(body, 'spec.priorityClassName')).toBe(names.standard);
    });
  });

  test('class, integer and policy arrive together, and pass the Priority plugin', async () => {
    const { status, body } = await api.post(pods(), pod('defaulted'));
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    expect(body).toMatchObject({
      spec: { priorityClassName: names.standard, priority: 100, preemptionPolicy: 'PreemptLowerPriority' },
    });
  });

  test('a dry run is judged alike', async () => {
    const dry = { query: { dryRun: 'All' } };
    expect((await api.post(pods(), pod('dry', { priorityClassName: names.high }), dry)).status).toBe(403);
    const { body } = await api.post(pods(), pod('dry'), dry);
    expect(at(body, 'spec.priority')).toBe(100);
  });

  test('a generated name is judged like any other', async () => {
    const generated = pod('', { priorityClassName: names.high }, { name: undefined, generateName: 'greedy-' });
    const { status, body } = await api.post(pods(), generated);
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining('priority.plimsoll.dev')]);
  });

  test('what is there already lives on: labels change, pods are deleted', async () => {
    const labelled = await api.patch(`${pods()}/defaulted`, { metadata: { labels: { a: 'b' } } }, 'merge');
    expect(labelled.status).toBe(200);
    expect((await api.remove(pods(), undefined, { query: { labelSelector: 'a=b' } })).status).toBe(200);
    expect((await api.get(`${pods()}/defaulted`)).status).toBe(404);
  });
});
