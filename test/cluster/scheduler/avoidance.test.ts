import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { accountKubeconfig } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import type { WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import { rightsOf } from '#test/cluster/installed/support/rights-of.ts';
import { at, pod } from '#test/contract/harness.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { PATIENCE_MS } from './preemption-scenario.ts';
import { eventually } from '#test/build/waiting.ts';
import { ENFORCING_NODES } from './enforcing-nodes.ts';
import { NODE_POLICIES } from '#test/scheduler/nodes/node-policies.ts';

const OVERLAY = fileURLToPath(new URL('../../../deploy/overlays/node-controller', import.meta.url));
const ACCOUNT = { namespace: 'plimsoll-system', name: 'plimsoll-controller' };
const PODS = '/api/v1/namespaces/default/pods';
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const why = whyNoOwnCluster(process.env);

/** node-0 has more room, so the scheduler prefers it for every replacement. */
describe.skipIf(why !== undefined)(`an owner whose pods node-0 evicts${why ?? ''}`, () => {
  const own = ownCluster();
  let controller: SchedulerProcess | undefined;
  let webhook: WebhookProcess | undefined;

  beforeAll(async () => {
    const { admin, cluster } = own();
    await makeFakeNodes(admin, 'node', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    await send('POST', PODS, { ...pod('filler', { nodeName: 'node-1', ...specOf('4') }) });
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', OVERLAY]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    await createReplicaSet('web');
  }, 120_000);
  afterAll(async () => {
    await controller?.stop();
    await webhook?.stop();
  });

  type Query = Readonly<Record<string, string>>;
  type Method = 'GET' | 'POST' | 'PATCH';

  async function send(method: Method, path: string, body?: object, query: Query = {}): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, query, contentType, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  function specOf(cpu: string): object {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu } } }];
    return { containers, terminationGracePeriodSeconds: 0 };
  }

  async function createReplicaSet(name: string): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: specOf('100m') };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await send('POST', '/apis/apps/v1/namespaces/default/replicasets', { metadata: { name }, spec });
  }

  /** The one pod of an owner that is on a node, other than `before`. */
  function placed(owner: string, before = ''): Promise<{ readonly name: string; readonly node: string }> {
    return eventually(async () => {
      const listed = await send('GET', PODS, undefined, { labelSelector: `app=${owner}` });
      const found = (at(listed, 'items') as readonly unknown[])
        .map((each) => ({ name: String(at(each, 'metadata.name')), node: at(each, 'spec.nodeName') }))
        .find(({ name, node }) => name !== before && node !== undefined);
      expect(found).toBeDefined();
      return { name: String(found?.name), node: String(found?.node) };
    }, PATIENCE_MS);
  }

  /** Evicts the pod of an owner and answers on which node its replacement is. */
  async function evictAndFollow(owner: string): Promise<string> {
    const { name } = await placed(owner);
    const metadata = { name, namespace: 'default' };
    await send('POST', `${PODS}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata });
    return (await placed(owner, name)).node;
  }

  async function follow(owner: string, rounds: number): Promise<readonly string[]> {
    const nodes: string[] = [];
    while (nodes.length < rounds) nodes.push(await evictAndFollow(owner));
    return nodes;
  }

  /** Writes a NodePressure as the agent of the node does. */
  async function report(node: string, memory: 'True' | 'False', evictedOwners: readonly string[] = []): Promise<void> {
    const now = new Date().toISOString();
    const because = { code: 'HardThresholdMet', text: 'short of memory' };
    const texts = { reason: 'x', message: 'x', lastTransitionTime: now };
    const evictions = evictedOwners.map((owner) => ({
      pod: 'default/gone',
      uid: `gone-${owner}`,
      owner: `default/ReplicaSet/${owner}`,
      signal: 'memory.available',
      stage: 'severe',
      outcome: 'evicted',
      requestedAt: now,
      because,
    }));
    const conditions = [{ type: 'Memory', status: memory, ...texts }];
    const status = { observedAt: now, mode: 'Enforce', conditions, evictions };
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: node } };
    await own().admin.request({ method: 'POST', path: PRESSURES, body: object });
    await send('PATCH', `${PRESSURES}/${node}/status`, { status });
  }

  const PREFERENCE = 'preferredDuringSchedulingIgnoredDuringExecution.0.preference.matchFields';

  /** Until a pod of the owner, created now, would avoid these nodes. */
  function untilAvoided(owner: string, nodes: readonly string[]): Promise<void> {
    const controllerOf = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: 'u', controller: true };
    const body = pod('probe', specOf('100m'));
    const metadata = { ...(at(body, 'metadata') as object), ownerReferences: [controllerOf] };
    return eventually(async () => {
      const made = await send('POST', PODS, { ...body, metadata }, { dryRun: 'All' });
      const named = at(made, `spec.affinity.nodeAffinity.${PREFERENCE}`) as readonly unknown[] | undefined;
      expect(named?.map((each) => at(each, 'values.0'))).toEqual(nodes);
    }, PATIENCE_MS);
  }

  test('without Plimsoll every replacement returns to the node', async () => {
    expect((await placed('web')).node).toBe('node-0');
    expect(await follow('web', 3)).toEqual(['node-0', 'node-0', 'node-0']);
  }, 120_000);

  test('with Plimsoll it goes to the other node and stays there, by the affinity alone', async () => {
    const { admin, cluster, connection } = own();
    const kubeconfig = await accountKubeconfig(own(), ACCOUNT);
    await send('POST', NODE_POLICIES, ENFORCING_NODES);
    controller = await startSchedulerProcess(kubeconfig, 0, ['--extender=Off']);
    webhook = await startInstalledWebhook({
      folder: cluster.folder,
      client: admin,
      connection,
      failurePolicy: 'Ignore',
    });
    await report('node-0', 'False', ['web']);
    await untilAvoided('web', ['node-0']);
    expect(decodeNodePressure(await send('GET', `${PRESSURES}/node-0`)).avoid).toMatchObject([{ hard: false }]);
    expect(await follow('web', 3)).toEqual(['node-1', 'node-1', 'node-1']);
  }, 180_000);

  test('when every node is avoided the pod is placed all the same', async () => {
    await report('node-1', 'False', ['web']);
    await untilAvoided('web', ['node-0', 'node-1']);
    expect(['node-0', 'node-1']).toContain(await evictAndFollow('web'));
  }, 60_000);

  test('a hard entry is a preference too: where no other node is left the pod is placed all the same', async () => {
    const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'db' };
    const until = new Date(Date.now() + 600_000).toISOString();
    await send('PATCH', `${PRESSURES}/node-0`, { spec: { avoid: [{ owner, until, cause: 'by hand', hard: true }] } });
    await untilAvoided('db', ['node-0']);
    await cordon('node-1', true);
    await createReplicaSet('db');
    expect((await placed('db')).node).toBe('node-0');
    await cordon('node-1', false);
  }, 60_000);

  async function cordon(node: string, unschedulable: boolean): Promise<void> {
    await send('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable } });
  }

  test('a taint keeps the pods of every owner off a node under pressure, until the pressure ends', async () => {
    const taints = async () => {
      const found = at(await send('GET', '/api/v1/nodes/node-0'), 'spec.taints') as readonly unknown[] | undefined;
      return (found ?? []).map((each) => at(each, 'key'));
    };
    await report('node-0', 'True');
    await eventually(async () => expect(await taints()).toEqual(['plimsoll.dev/memory-pressure']), PATIENCE_MS);
    await createReplicaSet('api');
    expect((await placed('api')).node).toBe('node-1');
    await report('node-0', 'False');
    await eventually(async () => expect(await taints()).toEqual([]), PATIENCE_MS);
    expect(await evictAndFollow('api')).toBe('node-0');
  }, 120_000);

  test('the rights of its account are those of the golden list', async () => {
    const rights = await rightsOf(own(), ACCOUNT, ['default', ACCOUNT.namespace, 'kube-system']);
    await expect(rights).toMatchFileSnapshot('golden/rights-of-node-controller.txt');
  });
});
