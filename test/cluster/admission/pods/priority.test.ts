import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { clusterObjects, onlyIn, POLICIES, PRIORITY_CLASSES } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

describe.skipIf(!hasCluster())('priorities, with the webhook registered', () => {
  const target = clusterTarget();
  const api = contractHarness(target);
  /** A namespace that no policy selects. */
  const elsewhere = contractHarness(target);
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const pods = (): string => api.core('pods');
  const names = { standard: '', high: '', policy: '' };

  beforeAll(async () => {
    names.standard = await objects.priorityClass('standard', 100);
    names.high = await objects.priorityClass('high', 1_000);
    const limits = { defaultPriorityClassName: names.standard, maxPriority: 500, schedulerName: 'plimsoll' };
    names.policy = await objects.policy('policy', { namespaceSelector: onlyIn(api), ...limits });
    await eventually(async () => {
      const { body } = await api.post(pods(), pod('probe'), { query: { dryRun: 'All' } });
      expect(at(body, 'spec.priorityClassName')).toBe(names.standard);
    });
  });

  /** The API server's own Priority plugin observes a new class shortly after. */
  function untilCreated(object: object): Promise<void> {
    return eventually(async () => expect((await api.post(pods(), object)).status).toBe(201));
  }

  test('class, integer and policy arrive together, and pass the Priority plugin', async () => {
    const { status, body } = await api.post(pods(), pod('defaulted'));
    expect([status, at(body, 'message')]).toEqual([201, undefined]);
    const spec = { priorityClassName: names.standard, priority: 100, preemptionPolicy: 'PreemptLowerPriority' };
    expect(body).toMatchObject({ spec });
    expect((await api.get(`${pods()}/defaulted`)).body).toMatchObject({ spec });
  });

  test('the class that a pod names gives the stored pod its number and policy, and one that does not exist is refused', async () => {
    const patient = await objects.priorityClass('patient', 300, { preemptionPolicy: 'Never' });
    const named = pod('named', { priorityClassName: patient });
    await untilCreated(named);
    expect((await api.get(`${pods()}/named`)).body).toMatchObject({
      spec: { priorityClassName: patient, priority: 300, preemptionPolicy: 'Never' },
    });
    const unknown = await api.post(pods(), pod('unknown', { priorityClassName: 'there-is-none' }));
    expect([unknown.status, (await api.get(`${pods()}/unknown`)).status]).toEqual([403, 404]);
  });

  test('a pod keeps its number when its class is deleted, and no new one gets it', async () => {
    const leaving = await objects.priorityClass('leaving', 200);
    await untilCreated(pod('old', { priorityClassName: leaving }));
    expect((await api.remove(`${PRIORITY_CLASSES}/${leaving}`)).status).toBe(200);
    await eventually(async () => {
      const refused = await api.post(pods(), pod('new', { priorityClassName: leaving }), { query: { dryRun: 'All' } });
      expect(refused.status).toBe(403);
    });
    const changed = await api.patch(`${pods()}/old`, { metadata: { labels: { a: 'c' } } }, 'merge');
    expect([changed.status, at(changed.body, 'spec.priority')]).toEqual([200, 200]);
  });

  test('a pod that names no scheduler gets that of the policy, and one that names its own keeps it', async () => {
    const dry = { query: { dryRun: 'All' } };
    const unnamed = await api.post(pods(), pod('unnamed', { schedulerName: undefined }), dry);
    const own = await api.post(pods(), pod('own', { schedulerName: 'own' }), dry);
    expect([unnamed, own].map(({ body }) => at(body, 'spec.schedulerName'))).toEqual(['plimsoll', 'own']);
  });

  test('a dry run gets the same verdict', async () => {
    const dry = { query: { dryRun: 'All' } };
    expect((await api.post(pods(), pod('dry', { priorityClassName: names.high }), dry)).status).toBe(403);
    const { body } = await api.post(pods(), pod('dry'), dry);
    expect(at(body, 'spec.priority')).toBe(100);
  });

  test('a pod with a generated name is treated like any other', async () => {
    const generated = pod('', { priorityClassName: names.high }, { name: undefined, generateName: 'greedy-' });
    const { status, body } = await api.post(pods(), generated);
    expect([status, at(body, 'message')]).toEqual([403, expect.stringContaining('priority.plimsoll.dev')]);
  });

  test('existing pods stay usable: labels change, pods are deleted', async () => {
    const labelled = await api.patch(`${pods()}/defaulted`, { metadata: { labels: { a: 'b' } } }, 'merge');
    expect(labelled.status).toBe(200);
    expect((await api.remove(pods(), undefined, { query: { labelSelector: 'a=b' } })).status).toBe(200);
    expect((await api.get(`${pods()}/defaulted`)).status).toBe(404);
  });

  test('a new default, global or of a policy, changes no existing pod', async () => {
    expect((await elsewhere.post(elsewhere.core('pods'), pod('old'))).status).toBe(201);
    expect((await api.post(pods(), pod('kept'))).status).toBe(201);
    const other = await objects.priorityClass('other', 7, { globalDefault: true });
    const policy = await api.patch(
      `${POLICIES}/${names.policy}`,
      { spec: { defaultPriorityClassName: other } },
      'merge',
    );
    expect(policy.status).toBe(200);
    for (const [place, old, before] of [[elsewhere, 'old', 0] as const, [api, 'kept', 100] as const]) {
      await eventually(async () => {
        const { body } = await place.post(place.core('pods'), pod('later'), { query: { dryRun: 'All' } });
        expect(at(body, 'spec.priority')).toBe(7);
      });
      const changed = await place.patch(place.core(`pods/${old}`), { metadata: { labels: { a: 'd' } } }, 'merge');
      expect([changed.status, at(changed.body, 'spec.priority')]).toEqual([200, before]);
    }
  });
});
