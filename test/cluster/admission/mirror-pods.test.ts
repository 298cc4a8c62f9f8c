import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { at, contractHarness, eventually, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { agentOf } from './agent-user.ts';
import { asUser, type AnswerOfUser, type AsUser } from './as-user.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from './cluster-objects.ts';
import { registeredWebhooks } from './registered-webhooks.ts';
import { tenantOf } from './tenant.ts';

const MIRROR = { 'kubernetes.io/config.mirror': '9a1f' };
/** Pods are counted at least every half minute. */
const COUNTED_WITHIN_MS = 90_000;
const FROM_FILE = { 'kubernetes.io/config.source': 'file' };

/** Which marks of a static pod the API server lets a tenant and a node write, and how we treat them. */
describe.skipIf(!hasCluster())('the marks of a static pod', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  registeredWebhooks(api);
  const pods = (): string => api.core('pods');
  let tenant: AsUser;
  let kubelet: AsUser;
  let agent: AsUser;
  let node = '';
  let nodeOwner: object;

  beforeAll(async () => {
    [node = ''] = await makeFakeNodes(api.client, uniqueName('node'), 1);
    const uid = textAt((await api.get(`/api/v1/nodes/${node}`)).body, 'metadata.uid');
    nodeOwner = { apiVersion: 'v1', kind: 'Node', name: node, uid, controller: true };
    tenant = await tenantOf(api);
    kubelet = asUser(api.target.connection, `system:node:${node}`, { groups: ['system:nodes'] });
    agent = await agentOf(api, objects, node);
  });
  afterAll(() => api.remove(`/api/v1/nodes/${node}`));

  async function create(user: AsUser, metadata: object, spec: object = { nodeName: node }): Promise<Created> {
    const name = uniqueName('pod');
    const answer = await user('POST', pods(), pod(name, spec, metadata));
    return { name, answer, code: answer.status };
  }

  async function evict({ name, answer }: Created): Promise<AnswerOfUser> {
    const deleteOptions = { preconditions: { uid: textAt(answer.body, 'metadata.uid') } };
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions };
    return agent('POST', `${pods()}/${name}/eviction`, eviction);
  }

  test('a tenant may claim that its pod comes from a file, and the pod stays evictable', async () => {
    const claimed = await create(tenant, { annotations: FROM_FILE });
    expect(claimed.code).toBe(201);
    expect((await evict(claimed)).status).toBe(201);
  });

  test('a tenant may create a pod with the mirror annotation, and the pod stays evictable', async () => {
    const claimed = await create(tenant, { annotations: MIRROR });
    expect(claimed.code).toBe(201);
    expect((await evict(claimed)).status).toBe(201);
  });

  test('a tenant cannot turn a pod that runs into a mirror, nor create one without naming a node', async () => {
    const { name } = await create(tenant, { annotations: FROM_FILE });
    const changed = await tenant('PATCH', `${pods()}/${name}`, { metadata: { annotations: MIRROR } });
    expect([changed.status, at(changed.body, 'message')]).toEqual([
      422,
      expect.stringContaining('may not add mirror pod annotation'),
    ]);
    const placeless = await create(tenant, { annotations: MIRROR }, {});
    expect([placeless.code, at(placeless.answer.body, 'message')]).toEqual([
      422,
      expect.stringContaining('must set spec.nodeName if mirror pod annotation is set'),
    ]);
  });

  test('a node creates mirrors of its own in any namespace and of any class, which are protected', async () => {
    const own = { annotations: MIRROR, ownerReferences: [nodeOwner] };
    const mirror = await create(kubelet, own);
    const critical = await create(kubelet, own, { nodeName: node, priorityClassName: 'system-node-critical' });
    expect([mirror.code, critical.code]).toEqual([201, 201]);
    const refused = await evict(mirror);
    expect([refused.status, at(refused.body, 'message')]).toEqual([
      403,
      expect.stringContaining('the pod is the mirror of a static pod'),
    ]);
  });

  test('a node creates no other pods: none of another node, none without itself as the owner', async () => {
    const own = { annotations: MIRROR, ownerReferences: [nodeOwner] };
    const codes = [
      await create(kubelet, own, { nodeName: 'other' }),
      await create(kubelet, { annotations: MIRROR }),
      await create(kubelet, { ownerReferences: [nodeOwner] }),
    ].map(({ code }) => code);
    expect(codes).toEqual([403, 403, 403]);
  });

  test('a node evicts the pods that are bound to it without asking us, as Kubernetes lets it', async () => {
    const { name } = await create(tenant, {});
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    expect((await kubelet('POST', `${pods()}/${name}/eviction`, eviction)).status).toBe(201);
    const elsewhere = await create(tenant, {}, { nodeName: 'other' });
    const other = { ...eviction, metadata: { name: elsewhere.name } };
    expect((await kubelet('POST', `${pods()}/${elsewhere.name}/eviction`, other)).status).toBe(403);
  });

  test(
    'a mirror is charged to no PriorityQuota when it is created, and by the next count',
    { timeout: 2 * COUNTED_WITHIN_MS },
    async () => {
      const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
      await api.patch(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels } }, 'merge');
      const high = await objects.priorityClass('high', 1_000);
      const spec = { namespaceSelector: onlyIn(api), priorityClassNames: [high], hard: { pods: '1' } };
      const quota = await objects.priorityQuota('one', spec);
      const used = async (): Promise<unknown> => at((await api.get(`${PRIORITY_QUOTAS}/${quota}`)).body, 'status.used');
      await eventually(async () => expect(await used()).toEqual({ pods: '0' }));
      const own = { annotations: MIRROR, ownerReferences: [nodeOwner] };
      const mirrors = [1, 2].map(() => create(kubelet, own, { nodeName: node, priorityClassName: high }));
      expect((await Promise.all(mirrors)).map(({ code }) => code)).toEqual([201, 201]);
      await eventually(async () => expect(await used()).toEqual({ pods: '2' }), COUNTED_WITHIN_MS);
      expect((await create(tenant, {}, { priorityClassName: high })).code).toBe(403);
    },
  );
});

interface Created {
  readonly name: string;
  readonly answer: AnswerOfUser;
  readonly code: number;
}
