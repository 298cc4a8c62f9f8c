import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { accountToken, writeKubeconfig } from '#test/cluster/support/accounts.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { PATIENCE_MS, podPath } from './removal-scene.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy', import.meta.url));
const POLICIES = '/apis/plimsoll.dev/v1alpha1/reschedulingpolicies';
const RECORDS = '/apis/plimsoll.dev/v1alpha1/namespaces/default/disruptions';
const FLAGS = ['--extender=Off', '--nodes-avoidance=Off', '--nodes-taints=Off'];
/** The least that a policy may say. */
const PERIOD_MS = 30_000;
const KUBELET_MS = 250;
/** Owners with their replicas of one CPU each: seven eighths of two nodes. */
const OWNERS = [
  ['a', 3],
  ['b', 3],
  ['c', 3],
  ['d', 3],
  ['kept', 2],
] as const;
const why = whyNoOwnCluster(process.env);

interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly app: string;
  readonly isLeaving: boolean;
}

/** kube-scheduler itself places the replacements, and controllers of kube-controller-manager make them. */
describe.skipIf(why !== undefined)(`the rescheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const ended = new AbortController();
  /** The rescheduler, and the record of removed pods. */
  let processes: readonly SchedulerProcess[] = [];
  let working: Promise<unknown>;

  beforeAll(async () => {
    const { admin, cluster } = own();
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'plimsoll-system' } });
    for (const what of [
      ['-k', `${DEPLOY}/crds`],
      ['-f', `${DEPLOY}/components/rescheduling/rbac.yaml`],
      ['-f', `${DEPLOY}/components/disruption-record/rbac.yaml`],
      ['-f', `${DEPLOY}/components/disruption-record/position.yaml`],
    ]) {
      const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', ...what]);
      expect([applied.status, applied.stderr]).toEqual([0, '']);
    }
    await makeFakeNodes(admin, 'old', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    working = Promise.all([endTerminatedPods(admin, ended.signal), runBoundPods()]);
    processes = await Promise.all([
      startAs('plimsoll-rescheduling', '--rescheduling-passes=On'),
      startAs('plimsoll-disruptions', '--disruptions-record=On'),
    ]);
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    await working;
    await Promise.all(processes.map((each) => each.stop()));
  });

  async function startAs(name: string, flag: string): Promise<SchedulerProcess> {
    const { admin, cluster, connection } = own();
    const kubeconfig = join(dirname(cluster.kubeconfig), `${name}.kubeconfig`);
    writeKubeconfig(kubeconfig, connection, await accountToken(admin, { namespace: 'plimsoll-system', name }));
    const [port = 0] = await freePorts(1);
    return startSchedulerProcess(kubeconfig, port, [...FLAGS, flag]);
  }

  async function send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  /** As kubelets would: pods of the first nodes have run for an hour, others start when they are placed. */
  async function runBoundPods(): Promise<void> {
    while (!ended.signal.aborted) {
      const list = await own().admin.request({ path: podPath() });
      for (const each of (at(list, 'object.items') ?? []) as readonly unknown[]) {
        if (at(each, 'status.phase') !== 'Pending' || at(each, 'spec.nodeName') === undefined) continue;
        const age = areOldNodesOnly ? 3_600_000 : 0;
        const startTime = new Date(Date.now() - age).toISOString();
        const conditions = [{ type: 'Ready', status: 'True' }];
        const path = `${podPath('default', textAt(each, 'metadata.name'))}/status`;
        const body = { status: { phase: 'Running', startTime, conditions } };
        await own().admin.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
      }
      await letTimePass(KUBELET_MS, 'double', ended.signal);
    }
  }

  let areOldNodesOnly = true;

  async function pods(): Promise<readonly SeenPod[]> {
    const items = at(await send('GET', podPath()), 'items') as readonly unknown[];
    return items.map((each) => ({
      name: textAt(each, 'metadata.name'),
      uid: textAt(each, 'metadata.uid'),
      node: textOrNone(each, 'spec.nodeName'),
      app: textOrNone(each, 'metadata.labels.app'),
      isLeaving: at(each, 'metadata.deletionTimestamp') !== undefined,
    }));
  }

  function template(app: string): object {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '1' } } }];
    const spec = { containers, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false };
    return { metadata: { labels: { app } }, spec };
  }

  async function statusOf(name: string): Promise<unknown> {
    return at(await send('GET', `${POLICIES}/${name}`), 'status');
  }

  /** Each as a rescheduling that makes room for nobody (S0-30), and why. */
  async function expectRecords(uids: readonly string[]): Promise<void> {
    const [requestedBy, cause] = ['plimsoll-rescheduling', 'Rescheduling'];
    const because = { code: 'NodeOverTarget', text: expect.stringMatching(/^node old-\d is at \d/) as string };
    const decision = expect.stringMatching(/^[0-9a-f]{12}$/) as string;
    await eventually(async () => {
      const records = at(await send('GET', RECORDS), 'items') as readonly unknown[];
      expect(records.map((each) => textAt(each, 'spec.podUID')).sort()).toEqual([...uids].sort());
      for (const each of records) expect(each).toMatchObject({ spec: { cause, requestedBy, because, decision } });
      expect(records.filter((each) => at(each, 'spec.madeRoomFor') !== undefined)).toEqual([]);
    }, PATIENCE_MS);
  }

  test('a dry run says what it would move and evicts no pod', async () => {
    for (const [app, replicas] of OWNERS) {
      const selector = { matchLabels: { app } };
      const body = { metadata: { name: app }, spec: { replicas, selector, template: template(app) } };
      await send('POST', '/apis/apps/v1/namespaces/default/replicasets', body);
    }
    const budget = {
      metadata: { name: 'kept' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'kept' } } },
    };
    await send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget);
    const alone = { containers: [{ name: 'main', image: 'registry.test/idle:1' }], nodeName: 'old-0' };
    await send('POST', podPath(), { metadata: { name: 'alone', labels: { app: 'alone' } }, spec: alone });
    await eventually(async () => {
      const placed = await pods();
      expect(placed.filter(({ node }) => node.startsWith('old-'))).toHaveLength(15);
    }, PATIENCE_MS);
    await eventually(async () => {
      const ready = await send('GET', '/apis/apps/v1/namespaces/default/replicasets');
      const counts = (at(ready, 'items') as readonly unknown[]).map((each) => at(each, 'status.readyReplicas'));
      expect(counts.reduce<number>((sum, each) => sum + Number(each ?? 0), 0)).toBe(14);
    }, PATIENCE_MS);
    areOldNodesOnly = false;
    const { admin } = own();
    await makeFakeNodes(admin, 'new', 2);
    await makeFakeNodes(admin, 'closed', 1);
    await send('PATCH', '/api/v1/nodes/closed-0', { spec: { unschedulable: true } });
    await eventually(async () => expect(await countReadyNodes(admin)).toBeGreaterThanOrEqual(4), PATIENCE_MS);
    const before = await pods();
    const underused = { low: { cpu: 45 }, target: { cpu: 65 } };
    const spec = { underused, aggressiveness: 'High', schedule: { period: '30s' } };
    await send('POST', POLICIES, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'ReschedulingPolicy',
      metadata: { name: 'even' },
      spec,
    });
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 4, moved: 0 }), PATIENCE_MS);
    expect(await statusOf('even')).toMatchObject({ mode: 'DryRun', lastPass: expect.any(String) as unknown });
    expect(await pods()).toEqual(before);
  }, 60_000);

  test('added nodes get pods by evictions within budget, kube-scheduler places the replacements, and then it rests (S0-30, S3-1, S3-37, S3-41, S3-47)', async () => {
    const before = await pods();
    await send('PATCH', `${POLICIES}/even`, { spec: { mode: 'Enforce' } });
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 4, moved: 4 }), PATIENCE_MS);
    await eventually(async () => {
      const placed = await pods();
      expect(placed.filter(({ isLeaving, node }) => isLeaving || node === '')).toEqual([]);
      expect(placed.filter(({ node }) => node.startsWith('new-'))).toHaveLength(4);
      expect(placed).toHaveLength(15);
    }, PATIENCE_MS);
    const after = await pods();
    const staying = new Set(after.map(({ uid }) => uid));
    const moved = before.filter(({ uid }) => !staying.has(uid));
    expect(moved.map(({ app }) => app).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(after.filter(({ node }) => node === 'closed-0')).toEqual([]);
    await expectRecords(moved.map(({ uid }) => uid));
    await letTimePass(PERIOD_MS, 'watched', ended.signal);
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 0, moved: 0 }), PATIENCE_MS);
    expect((await pods()).map(({ uid }) => uid).sort()).toEqual([...staying].sort());
  }, 90_000);
});

function textOrNone(object: unknown, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' ? value : '';
}
