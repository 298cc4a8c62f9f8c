import { patchObject } from '#shared/kube/client/objects.ts';
import { DEPLOYMENTS, PODS } from '#shared/kube/resource.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { gatesOf, LEADER, MANAGED, PATIENCE_MS, podOf, pods, QUEUES, queueScene } from './queue-scene.ts';

const why = whyNoOwnCluster(process.env);

/** One node of 8 CPUs, and two queues of equal weight. */
describe.skipIf(why !== undefined)(`letting pods in on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = queueScene(own);
  const ended = new AbortController();
  let replicas: readonly SchedulerProcess[] = [];
  let ending: Promise<void>;

  beforeAll(async () => {
    const { admin } = own();
    await scene.create('/api/v1/namespaces', { metadata: { name: 'early', labels: { team: 'b' } } });
    await create('early', earlyPod('of-a'));
    await scene.install();
    const managed = { metadata: { labels: { 'plimsoll.dev/queues': 'managed' } } };
    expect((await scene.user()('PATCH', '/api/v1/namespaces/early', managed)).status).toBe(200);
    for (const team of ['a', 'b']) {
      await scene.manage(`team-${team}`, { team }, team === 'b' ? MANAGED : undefined);
      await scene.queue(`of-${team}`, { namespaceSelector: { matchLabels: { team } } });
    }
    await scene.manage('nobody');
    await scene.queue('lost', { parent: 'missing', preemption: { delay: 'soon' }, guaranteed: { cpu: 100 } });
    await scene.create('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 1_000 });
    await makeFakeNodes(admin, 'node', 1);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(1), PATIENCE_MS);
    ending = endTerminatedPods(admin, ended.signal);
    for (const team of ['a', 'b']) {
      for (let index = 0; index < 6; index += 1) await create(`team-${team}`, podOf(`pod-${index}`));
    }
    await create('nobody', podOf('alone'));
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    await ending;
    await Promise.all(replicas.map((each) => each.stop()));
  });

  const create = (namespace: string, body: object) => scene.create(pods(namespace), body);

  async function list(namespace: string): Promise<readonly object[]> {
    return at((await scene.user()('GET', pods(namespace))).body, 'items') as readonly object[];
  }

  /** The pods of a namespace without the gate, by name. */
  async function letIn(namespace: string): Promise<readonly string[]> {
    const all = await list(namespace);
    return all.filter((each) => gatesOf(each).length === 0).map((each) => textAt(each, 'metadata.name'));
  }

  const start = (count: number): Promise<readonly SchedulerProcess[]> =>
    Promise.all(Array.from({ length: count }, () => scene.startLeader()));

  test('without a leader, every pod waits', async () => {
    for (const namespace of ['team-a', 'team-b']) expect(await letIn(namespace)).toEqual([]);
  });

  test('each queue gets its share, and kube-scheduler places the pods', async () => {
    replicas = await start(2);
    await eventually(async () => {
      for (const namespace of ['team-a', 'team-b']) {
        expect(await letIn(namespace)).toHaveLength(4);
        expect((await list(namespace)).filter((each) => at(each, 'spec.nodeName') === 'node-0')).toHaveLength(4);
      }
    }, PATIENCE_MS);
    const pod = (await list('team-a')).find((each) => gatesOf(each).length === 0);
    const annotations = at(pod, 'metadata.annotations') as Readonly<Record<string, string>>;
    expect(JSON.parse(annotations['plimsoll.dev/admitted'] ?? '')).toMatchObject({
      queue: 'of-a',
      mayPreempt: true,
      mayBePreempted: true,
    });
  }, 60_000);

  test('the status of each queue says what it deserves, holds and waits for', async () => {
    await eventually(async () => {
      const { body } = await scene.user()('GET', `${QUEUES}/of-a`);
      expect(at(body, 'status')).toMatchObject({
        deserved: { cpu: '4' },
        allocated: { cpu: '4' },
        used: { cpu: '4' },
        pending: { cpu: '2' },
        waitingPods: 2,
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) as unknown,
      });
    }, PATIENCE_MS);
    const { stdout } = await kubectl(own().cluster.kubeconfig, ['get', 'que']);
    expect(
      stdout
        .split('\n')
        .find((line) => line.startsWith('of-a'))
        ?.split(/ {2,}/)
        .slice(1, 5),
    ).toEqual(['1', '4', '4', '0']);
  }, 60_000);

  test('a mark from before the policies were installed takes nothing of the queue that it names, and is removed', async () => {
    await eventually(async () => {
      const { body } = await scene.user()('GET', pods('early', 'early'));
      expect(at(body, 'metadata.annotations') ?? {}).toEqual({});
      const memory = async (queue: string) =>
        at((await scene.user()('GET', `${QUEUES}/${queue}`)).body, 'status.used.memory');
      expect([(await memory('of-a')) ?? '0', await memory('of-b')]).toEqual(['0', '1Gi']);
    }, PATIENCE_MS);
  }, 60_000);

  test('a waiting pod is told what it waits for, and one without a queue that there is none', async () => {
    const notes = async (namespace: string, name: string) => {
      const { body } = await scene.user()('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      const events = (at(body, 'items') as readonly object[]).filter((each) => at(each, 'reason') === 'WaitsInQueue');
      return events.filter((each) => at(each, 'regarding.name') === name).map((each) => at(each, 'note'));
    };
    const [waiting] = (await list('team-a')).filter((each) => gatesOf(each).length > 0);
    const name = textAt(waiting, 'metadata.name');
    await eventually(async () => {
      expect(await notes('team-a', name)).toEqual(['waits for 1 cpu: queue of-a is at its deserved 4']);
      expect(await notes('nobody', 'alone')).toEqual([
        'no queue selects namespace nobody, and neither pod nor namespace names one',
      ]);
    }, PATIENCE_MS);
  }, 60_000);

  test('waiting pods carry the reason, and pods that were let in do not', async () => {
    const said = async (isLetIn: boolean) => {
      const all = (await list('team-a')).filter((each) => (gatesOf(each).length === 0) === isLetIn);
      const conditions = all.flatMap((each) => at(each, 'status.conditions') as readonly object[]);
      return conditions.filter((each) => at(each, 'type') === 'plimsoll.dev/WaitsInQueue');
    };
    await eventually(async () => {
      expect((await said(false)).map((each) => at(each, 'message'))).toEqual(
        Array.from({ length: 2 }, () => 'waits for 1 cpu: queue of-a is at its deserved 4'),
      );
      expect(await said(true)).toEqual([]);
    }, PATIENCE_MS);
  }, 60_000);

  test('the leader says only of managed pods what they wait for, and writes no other condition', async () => {
    await scene.create(pods('default'), podOf('elsewhere', { schedulingGates: [{ name: 'example.com/other' }] }));
    const waits = { type: 'plimsoll.dev/WaitsInQueue', status: 'True', reason: 'AtMaximum', message: 'x' };
    const say = async (namespace: string, name: string, change: (before: readonly object[]) => readonly object[]) => {
      const { body: pod } = await scene.user()('GET', pods(namespace, name));
      const conditions = change((at(pod, 'status.conditions') ?? []) as readonly object[]);
      const path = `${pods(namespace, name)}/status?dryRun=All`;
      const { status, body } = await scene.user(LEADER)('PATCH', path, { status: { conditions } });
      return [status, at(body, 'message')];
    };
    const refused = (text: string) => [403, expect.stringContaining(text) as unknown];
    const added = (before: readonly object[]) => [...before, waits];
    const only = refused('only the condition plimsoll.dev/WaitsInQueue');
    expect(await say('nobody', 'alone', added)).toEqual([200, undefined]);
    expect(await say('nobody', 'alone', (before) => [...before, { ...waits, type: 'Ready' }])).toEqual(only);
    expect(await say('nobody', 'alone', () => [waits])).toEqual(only);
    expect(await say('default', 'elsewhere', added)).toEqual(refused('only of pods in managed namespaces'));
  }, 60_000);

  test('settings without effect, unknown parents and guarantees above the cluster are conditions', async () => {
    const { body } = await scene.user()('GET', `${QUEUES}/lost`);
    const conditions = at(body, 'status.conditions') as readonly object[];
    expect(conditions.map((each) => [at(each, 'type'), at(each, 'status'), at(each, 'reason')])).toEqual([
      ['Ready', 'False', 'UnknownParent'],
      ['SettingsEffective', 'False', 'NoEffect'],
    ]);
  });

  test('the end of a pod lets the most important waiting pod in, the youngest though it is (S0-25)', async () => {
    await create('team-a', podOf('urgent', { priorityClassName: 'high' }));
    const [first = ''] = await letIn('team-a');
    await scene.user()('DELETE', pods('team-a', first));
    await eventually(async () => {
      expect(at((await scene.user()('GET', pods('team-a', 'urgent'))).body, 'spec.nodeName')).toBe('node-0');
    }, PATIENCE_MS);
    expect(await letIn('team-a')).toHaveLength(4);
  }, 60_000);

  test('a pod that names a node takes nothing of the queues, and one of a DaemonSet waits as any other', async () => {
    await create('default', podOf('loud', { nodeName: 'no-such-node' }, {}, '1000'));
    const template = { ...podOf(''), metadata: { labels: { app: 'logs' } } };
    await scene.create('/apis/apps/v1/namespaces/team-a/daemonsets', {
      metadata: { name: 'logs' },
      spec: { selector: { matchLabels: { app: 'logs' } }, template },
    });
    await eventually(async () => {
      const { body } = await scene.user()('GET', '/apis/events.k8s.io/v1/namespaces/team-a/events');
      const events = at(body, 'items') as readonly object[];
      expect(
        events.some((each) => at(each, 'regarding.kind') === 'DaemonSet' && at(each, 'reason') === 'WaitsInQueue'),
      ).toBe(true);
    }, PATIENCE_MS);
    const [first = ''] = await letIn('team-b');
    await scene.user()('DELETE', pods('team-b', first));
    await eventually(async () => {
      const names = await letIn('team-b');
      expect([names.length, names.includes(first)]).toEqual([4, false]);
    }, PATIENCE_MS);
    const ofDaemonSet = (await list('team-a')).filter((each) => textAt(each, 'metadata.name').startsWith('logs-'));
    expect([(await letIn('team-a')).length, ofDaemonSet.map(gatesOf)]).toEqual([4, [['plimsoll.dev/queue']]]);
  }, 60_000);

  test('when the leader is killed, the other replica goes on, and lets no pod in twice', async () => {
    const before = replicas.find((each) => each.log().includes('Lease acquired'));
    await before?.kill();
    replicas = replicas.filter((each) => each !== before);
    const [first = ''] = await letIn('team-b');
    await scene.user()('DELETE', pods('team-b', first));
    await eventually(async () => {
      const names = await letIn('team-b');
      expect([names.length, names.includes(first)]).toEqual([4, false]);
    }, PATIENCE_MS);
    expect(await letIn('team-a')).toHaveLength(4);
  }, 60_000);

  test('a plain Deployment of three in a full queue is rolled out to the end, and has four pods at most', async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'more', 2);
    await scene.manage('team-roll', { team: 'roll' });
    await scene.queue('of-roll', { namespaceSelector: { matchLabels: { team: 'roll' } }, max: { cpu: 3 } });
    const path = '/apis/apps/v1/namespaces/team-roll/deployments';
    const labels = { app: 'web' };
    const template = (revision: string) => {
      const metadata = { labels, annotations: { revision } };
      return { ...podOf('', { terminationGracePeriodSeconds: 1 }), metadata };
    };
    const rolled = (revision: string) => ({
      metadata: { name: 'web' },
      spec: { replicas: 3, selector: { matchLabels: labels }, template: template(revision) },
    });
    /** As the kubelet would, and how many pods of each revision are on nodes. */
    const makeReady = async () => {
      const placed = (await list('team-roll')).filter((each) => at(each, 'spec.nodeName') !== undefined);
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      for (const each of placed.filter((pod) => at(pod, 'status.phase') === 'Pending')) {
        const address = { resource: PODS, namespace: 'team-roll', name: textAt(each, 'metadata.name') };
        await patchObject(admin, { ...address, subresource: 'status' }, { status }, { type: 'merge' });
      }
      return placed.map((each) => textAt(each, 'metadata.annotations.revision'));
    };
    await scene.create(path, rolled('one'));
    await eventually(async () => expect(await makeReady()).toEqual(['one', 'one', 'one']), PATIENCE_MS);
    await patchObject(admin, { resource: DEPLOYMENTS, namespace: 'team-roll', name: 'web' }, rolled('two'), {
      type: 'merge',
    });
    let most = 0;
    await eventually(async () => {
      const revisions = await makeReady();
      most = Math.max(most, revisions.length);
      expect(revisions).toEqual(['two', 'two', 'two']);
    }, PATIENCE_MS);
    expect(most).toBe(4);
  }, 90_000);

  test('who may create queues and change one sets nothing for the whole cluster', async () => {
    const name = 'queue-admin';
    const rules = [
      { apiGroups: ['plimsoll.dev'], resources: ['queues'], verbs: ['create'] },
      { apiGroups: ['plimsoll.dev'], resources: ['queues'], resourceNames: ['of-a'], verbs: ['update', 'patch'] },
    ];
    const apiGroup = 'rbac.authorization.k8s.io';
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    await scene.create(`/apis/${apiGroup}/v1/clusterroles`, { metadata: { name }, rules });
    const subjects = [{ apiGroup, kind: 'User', name }];
    await scene.create(`/apis/${apiGroup}/v1/clusterrolebindings`, { metadata: { name }, roleRef, subjects });
    const admin = scene.user(name);
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue' };
    const create = async (queue: string, spec: object, by = admin) => {
      const { status, body } = await by('POST', `${QUEUES}?dryRun=All`, { ...head, metadata: { name: queue }, spec });
      return status === 201 ? 'created' : at(body, 'message');
    };
    await eventually(async () => expect(await create('below', { parent: 'of-a' })).toBe('created'), PATIENCE_MS);
    const reclaim = { mode: 'Enforce' };
    for (const spec of [{ reclaim }, { capacity: { cpu: '1' } }, {}])
      expect(await create('root', spec)).toContain('must only be created by users who may also update it');
    expect(await create('root', { reclaim }, scene.user())).toBe('created');
    const { body } = await admin('PATCH', `${QUEUES}/of-a`, { spec: { reclaim } });
    expect(at(body, 'message')).toContain('spec.reclaim must only be set on the queue root');
  });
});

/** A pod of a namespace that is not managed yet, with a mark that a tenant wrote. */
function earlyPod(queue: string): object {
  const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { memory: '1Gi' } } }];
  const mark = { queue, mayBePreempted: false, at: '2036-01-01T00:00:00Z' };
  return podOf(
    'early',
    { containers, nodeName: 'node-0' },
    { annotations: { 'plimsoll.dev/admitted': JSON.stringify(mark) } },
  );
}
