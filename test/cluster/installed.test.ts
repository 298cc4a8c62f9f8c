import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client.ts';
import type { Outcome } from '#shared/kube/outcome.ts';
import { at, eventually, pod, textAt } from '#test/contract/harness.ts';
import { registerFully } from '#webhook/register.ts';
import { type Account, accountToken, AGENT, WEBHOOK, writeKubeconfig } from './accounts.ts';
import { startAgentProcess } from './agent-process.ts';
import { requestsOf } from './audit-log.ts';
import { findBinaries } from './binaries.ts';
import { countReadyNodes, makeFakeNodes } from './fake-nodes.ts';
import { freePorts } from './free-ports.ts';
import { installPlimsoll } from './install.ts';
import { ownCluster } from './own-cluster.ts';
import { type Attempt, mayDo, rightsOf } from './rights-of.ts';
import { startWebhookProcess } from './webhook-process.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const POD_LISTS = {
  agent: `/api/v1/namespaces/${AGENT.namespace}/pods`,
  webhook: `/api/v1/namespaces/${WEBHOOK.namespace}/pods`,
};
const OWN_NODE = 'node-0';
const OTHER_NODE = 'node-1';

/** C-11: what no account of ours may do, in the shape `VERB RESOURCE[.GROUP][/SUBRESOURCE]`. */
const FORBIDDEN = [
  'create pods',
  'patch pods',
  'delete pods',
  'deletecollection pods',
  'create pods/binding',
  'create pods/exec',
  'patch pods/ephemeralcontainers',
  'patch nodes',
  'delete nodes',
  'patch nodes/status',
  'get nodes/proxy',
  'create nodes/proxy',
  'get secrets',
  'list secrets',
  'patch configmaps',
  'create serviceaccounts/token',
  'impersonate users',
  'impersonate groups',
  'impersonate serviceaccounts',
  'escalate clusterroles.rbac.authorization.k8s.io',
  'bind clusterroles.rbac.authorization.k8s.io',
  'create rolebindings.rbac.authorization.k8s.io',
  'create validatingwebhookconfigurations.admissionregistration.k8s.io',
  'delete validatingwebhookconfigurations.admissionregistration.k8s.io',
  'patch validatingadmissionpolicies.admissionregistration.k8s.io',
  'create priorityclasses.scheduling.k8s.io',
  'patch leases.coordination.k8s.io',
] as const;

describe.skipIf(findBinaries(process.env).kind === 'missing')('deploy/base on a real control plane', () => {
  const own = ownCluster();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-installed-'));
  const clients: KubeClient[] = [];
  beforeAll(async () => {
    const { admin, cluster } = own();
    await installPlimsoll(cluster.kubeconfig);
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), 20_000);
  });
  afterAll(() => {
    for (const client of clients) client.close();
    rmSync(folder, { recursive: true });
  });

  /** Speaks with a token of the account, as its pod on the node does. */
  async function clientOf(account: Account, podName?: string): Promise<KubeClient> {
    const token = await accountToken(own().admin, account, podName);
    const client = createClient({ ...own().connection, token: () => Promise.resolve(token) }, { userAgent: 'test' });
    clients.push(client);
    return client;
  }

  function post(client: KubeClient, path: string, body: object): Promise<Outcome<unknown>> {
    return client.request({ method: 'POST', path, body });
  }

  /** The DaemonSet's pod there: it has passed quota and pod security, and the scheduler has placed it. */
  function agentPodOn(node: string): Promise<string> {
    return eventually(async () => {
      const found = await own().admin.request({
        path: POD_LISTS.agent,
        query: { fieldSelector: `spec.nodeName=${node}` },
      });
      return textAt(found.kind === 'ok' ? found.object : found, 'items.0.metadata.name');
    }, 40_000);
  }

  test('the pods of Deployment and DaemonSet pass quota and pod security', async () => {
    await agentPodOn(OWN_NODE);
    await agentPodOn(OTHER_NODE);
    await eventually(async () => {
      const found = await own().admin.request({ path: POD_LISTS.webhook });
      expect(at(found, 'object.items')).toHaveLength(2);
    });
  });

  test('it can be installed over itself', async () => {
    await expect(installPlimsoll(own().cluster.kubeconfig)).resolves.toBeUndefined();
  });

  describe.each([
    ['agent', AGENT],
    ['webhook', WEBHOOK],
  ] as const)('the rights of the %s', (name, account) => {
    test('are those of the golden list, on everything that the API server serves', async () => {
      const rights = await rightsOf(await clientOf(account), ['default', account.namespace]);
      await expect(rights).toMatchFileSnapshot(`golden/rights-of-${name}.txt`);
    });

    test('leave out whatever could harm a cluster', async () => {
      const client = await clientOf(account);
      const allowed = await Promise.all(
        FORBIDDEN.map(async (text) => ((await mayDo(client, attempt(text))) ? [text] : [])),
      );
      expect(allowed.flat()).toEqual([]);
    });
  });

  describe('the agent of a node', () => {
    let agent: KubeClient;
    let unbound: KubeClient;
    beforeAll(async () => {
      agent = await clientOf(AGENT, await agentPodOn(OWN_NODE));
      unbound = await clientOf(AGENT);
      const victim = (name: string): object => pod(name, { nodeName: OWN_NODE, tolerations: [{ operator: 'Exists' }] });
      for (const name of ['judged', 'spared']) await post(own().admin, '/api/v1/namespaces/default/pods', victim(name));
      await post(own().admin, '/api/v1/namespaces/kube-system/pods', victim('system'));
    });

    const pressure = (name: string): object => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'NodePressure',
      metadata: { name },
    });
    const evict = (client: KubeClient, path: string, deleteOptions: object): Promise<Outcome<unknown>> => {
      const [namespace = '', name = ''] = path.split('/');
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
      return post(client, `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, body);
    };
    const denied = (policy: string, text: string): object => ({
      kind: 'forbidden',
      message: expect.stringMatching(
        new RegExp(`ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${text}$`),
      ) as string,
    });

    test('writes the NodePressure of its own node and no other', async () => {
      const other = `the agent on node ${OWN_NODE} may not write the NodePressure of ${OTHER_NODE}`;
      // A new policy counts a moment after it was written.
      await eventually(async () =>
        expect(await post(agent, PRESSURES, pressure(OTHER_NODE))).toMatchObject(
          denied('plimsoll-agent-own-node', other),
        ),
      );
      expect(await post(agent, PRESSURES, pressure(OWN_NODE))).toMatchObject({ kind: 'ok' });
      await post(own().admin, PRESSURES, pressure(OTHER_NODE));
      const patch = (name: string): Promise<Outcome<unknown>> =>
        agent.request({
          method: 'PATCH',
          path: `${PRESSURES}/${name}/status`,
          contentType: 'application/merge-patch+json',
          body: { status: { observedAt: '2026-01-01T00:00:00Z' } },
        });
      expect(await patch(OTHER_NODE)).toMatchObject(denied('plimsoll-agent-own-node', other));
      expect(await patch(OWN_NODE)).toMatchObject({ kind: 'ok' });
    });

    test('evicts with the UID of the judged pod, with grace, and never from kube-system', async () => {
      const no = (text: string): object => denied('plimsoll-agent-evictions', text);
      const uid = 'some-uid';
      await eventually(async () =>
        expect(await evict(agent, 'default/spared', {})).toMatchObject(
          no('an eviction by the agent must carry the UID of the pod that was judged'),
        ),
      );
      expect(await evict(agent, 'default/spared', { preconditions: { uid }, gracePeriodSeconds: 0 })).toMatchObject(
        no('the agent must not evict with a grace period of 0'),
      );
      expect(await evict(agent, 'kube-system/system', { preconditions: { uid } })).toMatchObject(
        no("the agent must not evict from kube-system or from Plimsoll's own namespaces"),
      );
      const judged = await own().admin.request({ path: '/api/v1/namespaces/default/pods/judged' });
      const precondition = { uid: textAt(judged, 'object.metadata.uid') };
      expect(await evict(agent, 'default/judged', { preconditions: precondition })).toMatchObject({ kind: 'ok' });
    });

    test('may do neither with a token that no pod holds', async () => {
      const text = "the agent's token must be bound to a pod on a node";
      expect(await post(unbound, PRESSURES, pressure(OWN_NODE))).toMatchObject(denied('plimsoll-agent-own-node', text));
      expect(await evict(unbound, 'default/spared', { preconditions: { uid: 'some-uid' } })).toMatchObject(
        denied('plimsoll-agent-evictions', text),
      );
    });
  });

  test('webhook and agent ask for nothing that they may not do', async () => {
    const { admin, connection, cluster } = own();
    const [port = 0] = await freePorts(1);
    // Nothing carries traffic to the Service here, so the API server is told the address itself.
    const target = { kind: 'url', url: `https://127.0.0.1:${port}` } as const;
    await registerFully(admin, { target, failurePolicy: 'Fail', gatedCallers: [] });
    const files = { webhook: join(folder, 'webhook'), agent: join(folder, 'agent') };
    writeKubeconfig(files.webhook, connection, await accountToken(admin, WEBHOOK));
    writeKubeconfig(files.agent, connection, await accountToken(admin, AGENT, await agentPodOn(OWN_NODE)));
    const webhook = await startWebhookProcess(files.webhook, { port });
    const agent = await startAgentProcess(files.agent, OWN_NODE);
    try {
      await eventually(async () => {
        const path = '/api/v1/namespaces/default/pods';
        const made = await admin.request({ method: 'POST', path, query: { dryRun: 'All' }, body: pod('asked') });
        expect(made).toMatchObject({ kind: 'ok' });
      });
      await eventually(() => {
        const asked = requestsOf(cluster.auditLog, AGENT.name).map(({ verb, resource }) => `${verb} ${resource}`);
        expect(asked).toEqual(expect.arrayContaining(['list pods', 'watch nodes', 'patch nodepressures']));
        return Promise.resolve();
      }, 20_000);
    } finally {
      await Promise.all([webhook.stop(), agent.stop()]);
    }
    for (const account of [AGENT, WEBHOOK]) {
      const client = await clientOf(account);
      const asked = requestsOf(cluster.auditLog, account.name);
      const refused = await Promise.all(asked.map(async (each) => ((await mayDo(client, each)) ? [] : [each])));
      expect([asked.length > 3, refused.flat()]).toEqual([true, []]);
    }
  });
});

/** `VERB RESOURCE[.GROUP][/SUBRESOURCE]` in the namespace default. */
function attempt(text: string): Attempt {
  const [verb = '', thing = ''] = text.split(' ');
  const [qualified = '', subresource = ''] = thing.split('/');
  const [resource = '', ...group] = qualified.split('.');
  return { verb, resource, group: group.join('.'), subresource, namespace: 'default', name: '' };
}
