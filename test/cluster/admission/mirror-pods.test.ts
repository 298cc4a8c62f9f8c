import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterTarget, hasCluster } from '#test/cluster/cluster-target.ts';
import { makeFakeNodes } from '#test/cluster/fake-nodes.ts';
import { at, contractHarness, pod, textAt, uniqueName } from '#test/contract/harness.ts';
import { agentOf } from './agent-user.ts';
import { asUser, type AnswerOfUser, type AsUser } from './as-user.ts';
import { clusterObjects } from './cluster-objects.ts';
import { registeredWebhooks } from './registered-webhooks.ts';
import { tenantOf } from './tenant.ts';

const MIRROR = { 'kubernetes.io/config.mirror': '9a1f' };
const FROM_FILE = { 'kubernetes.io/config.source': 'file' };

/** What the API server lets a tenant and a node write of a static pod's marks, and what we make of them. */
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

  test('a tenant may write that its pod comes from a file, and stays evictable', async () => {
    const claimed = await create(tenant, { annotations: FROM_FILE });
    expect(claimed.code).toBe(201);
    expect((await evict(claimed)).status).toBe(201);
  });

  test('a tenant may create a pod with the mirror annotation, and stays evictable', async () => {
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
});

interface Created {
  readonly name: string;
  readonly answer: AnswerOfUser;
  readonly code: number;
}
