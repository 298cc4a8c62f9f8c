import { beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { at, contractHarness, namesOf, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { agentOf } from '#test/cluster/admission/support/agent-user.ts';
import { asUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { eventually } from '#test/build/waiting.ts';

const SCHEDULER = 'system:kube-scheduler';
const NODE = 'node-x';
const UNWANTED = { annotations: { 'plimsoll.dev/allow-preemption': 'false' } };
const DENIED = (entry: string): string => `admission webhook "${entry}.plimsoll.dev" denied the request: `;

describe.skipIf(!hasCluster())('removing pods, with the webhook registered', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const path = (name: string): string => api.core(`pods/${name}`);
  let scheduler: AsUser;
  let agent: AsUser;
  /** A class whose pods may opt out of preemption. */
  let asking = '';

  beforeAll(async () => {
    const byPod = { annotations: { 'plimsoll.dev/allow-preemption': 'by-pod' } };
    asking = await objects.priorityClass('asking', 20, {}, byPod);
    // A request that RBAC refuses never reaches a webhook.
    await objects.administrator(SCHEDULER);
    scheduler = asUser(api.target.connection, SCHEDULER);
    agent = await agentOf(api, objects, NODE);
    // The API server and the webhook observe a new class shortly after.
    const { name } = await eventually(() => given(UNWANTED, { priorityClassName: asking }));
    await eventually(async () => expect((await scheduler('DELETE', `${path(name)}?dryRun=All`)).status).toBe(429));
  });

  /** Creates a bound pod, so that it terminates like a running one; returns its name and UID. */
  async function given(metadata: object = {}, spec: object = {}): Promise<{ name: string; uid: string }> {
    const name = uniqueName('pod');
    const made = await api.post(api.core('pods'), pod(name, { nodeName: NODE, ...spec }, metadata));
    expect([made.status, at(made.body, 'message')]).toEqual([201, undefined]);
    return { name, uid: textAt(made.body, 'metadata.uid') };
  }

  async function left(...names: readonly string[]): Promise<readonly string[]> {
    const there = namesOf(await api.get(api.core('pods')));
    return names.filter((name) => there.includes(name));
  }

  describe('the scheduler, which preempts by deleting,', () => {
    test('must retry later for a pod whose owner opted out and whose class allows that', async () => {
      const { name } = await given(UNWANTED, { priorityClassName: asking });
      const { status, headers, body } = await scheduler('DELETE', path(name));
      expect([status, headers['retry-after']]).toEqual([429, '5']);
      expect(body).toMatchObject({
        message: `${DENIED('deletions')}the pod's owner asked that it never be preempted`,
        details: { retryAfterSeconds: 5 },
      });
      expect(await left(name)).toEqual([name]);
    });

    test('must retry for every pod of a class that opts out of preemption', async () => {
      const priorityClassName = await objects.priorityClass('steady', 10, {}, UNWANTED);
      // The API server observes a new class shortly after.
      const { name } = await eventually(() => given({}, { priorityClassName }));
      await eventually(async () => expect((await scheduler('DELETE', `${path(name)}?dryRun=All`)).status).toBe(429));
    });

    test('preempts any other pod, even one that opts out without permission of its class', async () => {
      for (const metadata of [{}, UNWANTED]) {
        const { name } = await given(metadata);
        expect((await scheduler('DELETE', path(name))).status).toBe(200);
        expect(await left(name)).toEqual([]);
      }
    });

    test('gets the same answer for a pod of a deleted collection', async () => {
      const labels = { together: 'yes' };
      const { name } = await given({ labels, ...UNWANTED }, { priorityClassName: asking });
      const { status, body } = await scheduler('DELETE', `${api.core('pods')}?labelSelector=together%3Dyes`);
      expect([status, at(body, 'message')]).toEqual([429, expect.stringContaining('never be preempted')]);
      expect(await left(name)).toEqual([name]);
    });
  });

  test('other users delete what RBAC allows, one by one or as collections', async () => {
    const labels = { swept: 'yes' };
    const [one, two, three] = [await given(UNWANTED), await given({ labels, ...UNWANTED }), await given({ labels })];
    expect((await api.remove(path(one.name))).status).toBe(200);
    expect((await api.remove(api.core('pods'), undefined, { query: { labelSelector: 'swept=yes' } })).status).toBe(200);
    expect(await left(one.name, two.name, three.name)).toEqual([]);
  });

  describe('our own agent', () => {
    function evict(name: string, deleteOptions: object, namespace = api.namespace) {
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
      return agent('POST', `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body);
    }

    test('never deletes, neither one pod nor a collection', async () => {
      const { name } = await given({ labels: { own: 'yes' } });
      const message = `${DENIED('deletions')}Plimsoll removes pods by eviction and never deletes them`;
      for (const target of [path(name), `${api.core('pods')}?labelSelector=own%3Dyes`])
        expect(await agent('DELETE', target)).toMatchObject({ status: 403, body: { message } });
      expect(await left(name)).toEqual([name]);
    });

    test('evicts only by UID and with a grace period', async () => {
      const { name, uid } = await given();
      const other = uid.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
      expect(await evict(name, { preconditions: { uid: other } })).toMatchObject({
        status: 409,
        body: {
          message: `${DENIED('own-evictions')}the eviction must have the pod's UID as precondition; it has \`${other}\`, but this pod's UID is \`${uid}\``,
        },
      });
      expect(await evict(name, { preconditions: { uid }, gracePeriodSeconds: 0 })).toMatchObject({
        status: 403,
        body: {
          message: `${DENIED('own-evictions')}gracePeriodSeconds of the eviction must be greater than 0, got 0`,
        },
      });
      expect(await left(name)).toEqual([name]);
      expect((await evict(name, { preconditions: { uid }, dryRun: ['All'] })).status).toBe(201);
      expect(await left(name)).toEqual([name]);
      expect((await evict(name, { preconditions: { uid } })).status).toBe(201);
      expect(await left(name)).toEqual([]);
    });

    test('evicts no pod of another node', async () => {
      const { name, uid } = await given({}, { nodeName: 'node-y' });
      expect(await evict(name, { preconditions: { uid } })).toMatchObject({
        status: 403,
        body: {
          message: `${DENIED('own-evictions')}the agent of node \`${NODE}\` may evict only pods on its own node, but this pod is on node \`node-y\``,
        },
      });
      expect(await left(name)).toEqual([name]);
    });

    test("gets the API server's own message for an exhausted budget", async () => {
      const labels = { guarded: 'yes' };
      const { name, uid } = await given({ labels });
      const conditions = [{ type: 'Ready', status: 'True' }];
      await api.patch(`${path(name)}/status`, { status: { phase: 'Running', conditions } }, 'merge');
      const budgets = `/apis/policy/v1/namespaces/${api.namespace}/poddisruptionbudgets`;
      const spec = { maxUnavailable: 0, selector: { matchLabels: labels } };
      expect((await api.post(budgets, { metadata: { name: 'none' }, spec })).status).toBe(201);
      // The disruption controller updates the allowed disruptions shortly after.
      await eventually(async () => {
        const { body } = await api.get(`${budgets}/none`);
        expect(at(body, 'status.observedGeneration')).toBe(1);
      });
      expect(await evict(name, { preconditions: { uid } })).toMatchObject({
        status: 429,
        body: {
          message: `${DENIED('own-evictions')}Cannot evict pod as it would violate the pod's disruption budget.`,
          details: { causes: [{ reason: 'DisruptionBudget' }] },
        },
      });
      expect(await left(name)).toEqual([name]);
    });

    test('never evicts a protected pod, and the gate holds in kube-system as well', async () => {
      const { name, uid } = await given({ annotations: { 'plimsoll.dev/evict': 'never' } });
      const opted = await evict(name, { preconditions: { uid } });
      expect([opted.status, at(opted.body, 'message')]).toEqual([
        403,
        expect.stringContaining(DENIED('own-evictions')),
      ]);
      const system = uniqueName('system');
      const made = await api.post('/api/v1/namespaces/kube-system/pods', pod(system, { nodeName: NODE }));
      const precondition = { uid: textAt(made.body, 'metadata.uid') };
      const refused = await evict(system, { preconditions: precondition }, 'kube-system');
      await api.remove(`/api/v1/namespaces/kube-system/pods/${system}`);
      expect([refused.status, at(refused.body, 'message')]).toEqual([
        403,
        `${DENIED('own-evictions')}the pod is in the protected namespace kube-system`,
      ]);
    });
  });

  test('other users evict what the budget allows, and a deleted pod is not protected', async () => {
    const eviction = (name: string): object => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    const { name } = await given({ annotations: { 'plimsoll.dev/evict': 'never' } });
    expect((await api.post(`${path(name)}/eviction`, eviction(name))).status).toBe(201);
    expect((await agent('POST', `${path('missing')}/eviction`, eviction('missing'))).status).toBe(409);
    const meant = { ...eviction('missing'), deleteOptions: { preconditions: { uid: 'some-uid' } } };
    expect((await agent('POST', `${path('missing')}/eviction`, meant)).status).toBe(404);
  });
});
