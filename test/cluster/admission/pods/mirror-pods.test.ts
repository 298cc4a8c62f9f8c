import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/support/control-plane/cluster-target.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { agentOf } from '#test/cluster/admission/support/agent-user.ts';
import { asUser, type AnswerOfUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, onlyIn, PRIORITY_QUOTAS } from '#test/cluster/admission/support/cluster-objects.ts';
import { registeredWebhooks } from '#test/cluster/admission/support/registered-webhooks.ts';
import { tenantOf } from '#test/cluster/admission/support/tenant.ts';
import { eventually } from '#test/build/waiting.ts';

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

  /** NodeRestriction looks the pod up in a cache of its own, which learns of a new pod shortly after it is created. */
  function evictAsKubelet(name: string): Promise<number> {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    return eventually(async () => {
      const { status } = await kubelet('POST', `${pods()}/${name}/eviction`, eviction);
      expect(status).not.toBe(404);
      return status;
    });
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
    const bound = await create(tenant, {});
    const elsewhere = await create(tenant, {}, { nodeName: 'other' });
    expect(await evictAsKubelet(bound.name)).toBe(201);
    expect(await evictAsKubelet(elsewhere.name)).toBe(403);
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
