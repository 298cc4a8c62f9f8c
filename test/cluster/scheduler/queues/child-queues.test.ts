import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secondsText } from '#shared/api/fields.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { gatesOf, LEADER, PATIENCE_MS, podOf, pods, QUEUES, queueScene } from './queue-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 90_000 };
const TEMPLATE = {
  weight: 3,
  guaranteed: { cpu: '2' },
  max: { cpu: '3' },
  preemption: { policy: 'Fence', delay: '5s', preferNear: false },
};

/** One node of 8 CPUs, a queue for teams with a template, and one beside it without a guarantee. */
describe.skipIf(why !== undefined)(`queues from a template, on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = queueScene(own);
  const ended = new AbortController();
  let leader: SchedulerProcess | undefined;
  let ending: Promise<void>;

  beforeAll(async () => {
    const { admin } = own();
    await scene.install();
    for (const name of ['team-a', 'team-b', 'team-c']) await scene.manage(name, { kind: 'team' });
    await scene.manage('batch', { kind: 'batch' });
    const ofTeams = { namespaceSelector: { matchLabels: { kind: 'team' } } };
    await scene.queue('teams', { ...ofTeams, guaranteed: { cpu: '4' }, max: { cpu: '6' }, childTemplate: TEMPLATE });
    await scene.queue('batch', { namespaceSelector: { matchLabels: { kind: 'batch' } } });
    await makeFakeNodes(admin, 'node', 1);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(1), PATIENCE_MS);
    ending = endTerminatedPods(admin, ended.signal);
    await scene.queue('root', { reclaim: { mode: 'Enforce' } });
    leader = await scene.startLeader();
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    await ending;
    await leader?.stop();
  });

  const create = (namespace: string, name: string, cpu = '1') =>
    scene.create(pods(namespace), podOf(name, { terminationGracePeriodSeconds: 1 }, {}, cpu));
  const get = async (path: string): Promise<unknown> => (await scene.user()('GET', path)).body;
  const queue = (name: string): Promise<unknown> => get(`${QUEUES}/${name}`);

  /** Those that are in, by name. */
  async function letIn(namespace: string): Promise<readonly string[]> {
    const all = at(await get(pods(namespace)), 'items') as readonly object[];
    return all.filter((each) => gatesOf(each).length === 0).map((each) => textAt(each, 'metadata.name'));
  }

  async function untilMade(name: string): Promise<unknown> {
    return eventually(async () => {
      const made = await queue(name);
      expect(at(made, 'metadata.name')).toBe(name);
      return made;
    }, PATIENCE_MS);
  }

  test('a pod that names the queue of others is refused, as the leader has told the API server', TEST, async () => {
    const named = podOf('named', {}, { labels: { 'plimsoll.dev/queue': 'batch' } });
    await eventually(async () => {
      const { status, body } = await scene.user()('POST', `${pods('team-a')}?dryRun=All`, named);
      const refused = expect.stringContaining('queue batch does not admit namespace team-a') as unknown;
      expect([status, at(body, 'message')]).toEqual([403, refused]);
    }, PATIENCE_MS);
  });

  test(
    'each namespace gets a queue with what the template says, as long as the guarantee lasts (S2-34)',
    TEST,
    async () => {
      for (const team of ['team-a', 'team-b', 'team-c']) {
        await create(team, 'first');
        const made = await untilMade(`teams.${team}`);
        const { guaranteed, ...others } = TEMPLATE;
        const spec = { parent: 'teams', ...others, ...(team !== 'team-c' && { guaranteed }) };
        expect(at(made, 'spec')).toEqual(spec);
        expect(at(made, 'metadata.labels')).toEqual({ 'app.kubernetes.io/managed-by': 'plimsoll-queues' });
        expect(at(made, 'metadata.ownerReferences')).toMatchObject([{ kind: 'Queue', name: 'teams' }]);
        await eventually(async () => expect(await letIn(team)).toEqual(['first']), PATIENCE_MS);
        const pod = await get(pods(team, 'first'));
        const annotations = at(pod, 'metadata.annotations') as Readonly<Record<string, string>>;
        expect(JSON.parse(annotations['plimsoll.dev/admitted'] ?? '')).toMatchObject({ queue: `teams.${team}` });
      }
    },
  );

  test('no queue exceeds its maximum, and all of them together not that of their parent', TEST, async () => {
    for (const team of ['team-a', 'team-b', 'team-c']) {
      for (const name of ['second', 'third', 'fourth']) await create(team, name);
    }
    await eventually(async () => {
      const counts = await Promise.all(['team-a', 'team-b', 'team-c'].map(async (team) => (await letIn(team)).length));
      expect([counts.reduce((sum, count) => sum + count, 0), Math.max(...counts) <= 3]).toEqual([6, true]);
      expect(at(await queue('teams'), 'status')).toMatchObject({ used: { cpu: '6' }, waitingPods: 6 });
    }, PATIENCE_MS);
    for (const team of ['team-a', 'team-b', 'team-c']) await scene.user()('DELETE', pods(team));
    await eventually(async () => {
      for (const team of ['team-a', 'team-b', 'team-c']) expect(await letIn(team)).toEqual([]);
    }, PATIENCE_MS);
  });

  test(
    'the preemption settings of the template hold in each of the queues: fence and delay (S2-34)',
    TEST,
    async () => {
      for (const name of ['b-0', 'b-1', 'b-2', 'b-3', 'b-4', 'b-5', 'b-6', 'b-7']) await create('batch', name);
      await eventually(async () => expect(await letIn('batch')).toHaveLength(8), PATIENCE_MS);
      for (const team of ['team-a', 'team-b']) {
        await create(team, 'fenced', '2');
        const note = await eventually(async () => {
          const events = at(
            await get(`/apis/events.k8s.io/v1/namespaces/${team}/events`),
            'items',
          ) as readonly object[];
          const none = events.filter((each) => at(each, 'reason') === 'NoRoomReclaimed');
          expect(none).not.toEqual([]);
          return none.map((each) => textAt(each, 'note'));
        }, PATIENCE_MS);
        expect(note).toEqual([`queue batch is over its guarantee but outside the fence of queue teams.${team}`]);
        await eventually(async () => expect(await letIn(team)).toEqual(['fenced']), PATIENCE_MS);
        const pod = await get(pods(team, 'fenced'));
        const annotations = at(pod, 'metadata.annotations') as Readonly<Record<string, string>>;
        const admitted = JSON.parse(annotations['plimsoll.dev/admitted'] ?? '') as { at: string };
        const waitedMs = Date.parse(admitted.at) - Date.parse(textAt(pod, 'metadata.creationTimestamp'));
        expect(waitedMs).toBeGreaterThanOrEqual(5_000);
      }
      expect(await letIn('batch')).toHaveLength(8);
    },
  );

  test('what a person changes in such a queue stays, and one without the label is not removed', TEST, async () => {
    const patch = { metadata: { labels: { 'app.kubernetes.io/managed-by': null } }, spec: { weight: 9 } };
    expect((await scene.user()('PATCH', `${QUEUES}/teams.team-b`, patch)).status).toBe(200);
    await scene.user()('DELETE', pods('team-b'));
    await eventually(async () => expect(await letIn('team-b')).toEqual([]), PATIENCE_MS);
    await untilEmpty('teams.team-c');
    const kept = await queue('teams.team-b');
    expect([at(kept, 'spec.weight'), at(kept, 'status.conditions')]).toEqual([
      9,
      expect.not.arrayContaining([expect.objectContaining({ type: 'Empty' })]) as unknown,
    ]);
  });

  /** Waits until the leader says so, and puts that an hour back. */
  async function untilEmpty(name: string): Promise<void> {
    const conditions = await eventually(async () => {
      const all = at(await queue(name), 'status.conditions') as readonly object[];
      expect(all).toContainEqual(expect.objectContaining({ type: 'Empty', status: 'True' }));
      return all;
    }, PATIENCE_MS);
    const lastTransitionTime = secondsText(systemClock.now() - 3_600_000);
    const earlier = conditions.map((each) => (at(each, 'type') === 'Empty' ? { ...each, lastTransitionTime } : each));
    const { status } = await scene.user()('PATCH', `${QUEUES}/${name}/status`, { status: { conditions: earlier } });
    expect(status).toBe(200);
  }

  test('a queue that was empty for an hour is removed, and made again for the next pod', TEST, async () => {
    await eventually(
      async () => expect((await scene.user()('GET', `${QUEUES}/teams.team-c`)).status).toBe(404),
      PATIENCE_MS,
    );
    for (const name of ['teams.team-a', 'teams.team-b']) {
      expect((await scene.user()('GET', `${QUEUES}/${name}`)).status).toBe(200);
    }
    await scene.user()('DELETE', pods('batch'));
    await create('team-c', 'again');
    await untilMade('teams.team-c');
    await eventually(async () => expect(await letIn('team-c')).toEqual(['again']), PATIENCE_MS);
  });

  test('a tenant gets one queue for its namespace, whatever its pods name', TEST, async () => {
    const tenant = await scene.tenant('team-a');
    for (const name of ['teams.team-c', 'teams.team-a', 'batch']) {
      const named = podOf('named', {}, { labels: { 'plimsoll.dev/queue': name } });
      // The API server learns of a new queue a second later; until then the leader alone refuses it.
      await eventually(
        async () => expect((await tenant('POST', `${pods('team-a')}?dryRun=All`, named)).status).toBe(403),
        PATIENCE_MS,
      );
    }
    const free = podOf('free', {}, { labels: { 'plimsoll.dev/queue': 'teams.team-a.more' } });
    expect((await tenant('POST', pods('team-a'), free)).status).toBe(201);
    const mine = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name: 'teams.mine' }, spec: {} };
    expect((await tenant('POST', QUEUES, mine)).status).toBe(403);
    await create('team-a', 'last', '1');
    await eventually(async () => expect(await letIn('team-a')).toContain('last'), PATIENCE_MS);
    const { body } = await scene.user()('GET', QUEUES);
    const names = (at(body, 'items') as readonly object[]).map((each) => textAt(each, 'metadata.name'));
    expect(names).toEqual(['batch', 'root', 'teams', 'teams.team-a', 'teams.team-b', 'teams.team-c']);
  });

  test('the account of the leader creates and deletes such queues and no others', TEST, async () => {
    const account = scene.user(LEADER);
    const uid = textAt(await queue('teams'), 'metadata.uid');
    const owner = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', name: 'teams', uid };
    const labels = { 'app.kubernetes.io/managed-by': 'plimsoll-queues' };
    const child = (metadata: object = {}, spec: object = {}): object => ({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Queue',
      metadata: { name: 'teams.x', labels, ownerReferences: [owner], ...metadata },
      spec: { parent: 'teams', ...TEMPLATE, ...spec },
    });
    const refused: readonly [object, string][] = [
      [child({ labels: {} }), 'only queues with the label'],
      [child({ name: 'x' }), 'only with a name that begins'],
      [child({ ownerReferences: [] }), 'only below its owner'],
      [child({}, { namespaceSelector: {} }), 'no queue with namespaceSelector'],
      [child({}, { weight: 10_000 }), 'only as the template of its parent says'],
      [child({}, { guaranteed: { cpu: '3' } }), 'only as the template of its parent says'],
      [child({}, { max: undefined }), 'only as the template of its parent says'],
      [child({}, { max: { cpu: '3', memory: '1Gi' } }), 'only as the template of its parent says'],
      [child({}, { preemption: { policy: 'Default', delay: '5s' } }), 'only as the template of its parent says'],
      [
        child({}, { preemption: { ...TEMPLATE.preemption, preferNear: true } }),
        'only as the template of its parent says',
      ],
      [
        child({ name: 'batch.x', ownerReferences: [{ ...owner, name: 'batch' }] }, { parent: 'batch' }),
        'only as the template of its parent says',
      ],
    ];
    for (const [body, text] of refused) {
      const answer = await account('POST', `${QUEUES}?dryRun=All`, body);
      expect([answer.status, at(answer.body, 'message')]).toEqual([403, expect.stringContaining(text) as unknown]);
    }
    for (const spec of [{}, { guaranteed: undefined }]) {
      const { status, body } = await account('POST', `${QUEUES}?dryRun=All`, child({}, spec));
      expect([status, at(body, 'message')]).toEqual([201, undefined]);
    }
    expect((await account('DELETE', `${QUEUES}/batch`)).status).toBe(403);
    const patches: readonly [string, object, string][] = [
      ['teams.team-a', { spec: { weight: 10_000 } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { guaranteed: { cpu: '3' } } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { guaranteed: { memory: '1Gi' } } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { max: null } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { preemption: { delay: '1s' } } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { preemption: { preferNear: true } } }, 'only as the template of its parent says'],
      ['teams.team-a', { spec: { parent: 'batch' } }, 'only what its template says'],
      ['teams.team-a', { spec: { namespaceSelector: {} } }, 'only what its template says'],
      ['teams.team-a', { metadata: { labels: { more: 'x' } } }, 'may not change the metadata'],
      ['teams.team-a', { metadata: { annotations: { more: 'x' } } }, 'only the annotation plimsoll.dev/from-template'],
      [
        'teams.team-b',
        { metadata: { annotations: { 'plimsoll.dev/from-template': '{}' } } },
        'only queues with the label',
      ],
      ['teams', { spec: { weight: 2 } }, 'only queues with the label'],
    ];
    const asWritten = { spec: { weight: TEMPLATE.weight, max: TEMPLATE.max, preemption: { policy: 'Fence' } } };
    expect((await account('PATCH', `${QUEUES}/teams.team-a?dryRun=All`, asWritten)).status).toBe(200);
    for (const [name, patch, text] of patches) {
      const answer = await account('PATCH', `${QUEUES}/${name}?dryRun=All`, patch);
      expect([answer.status, at(answer.body, 'message')]).toEqual([403, expect.stringContaining(text) as unknown]);
    }
  });

  test(
    'they follow their template, but for what a person has changed, and guarantees as far as they go',
    TEST,
    async () => {
      const before = await queue('teams.team-b');
      await scene.user()('PATCH', `${QUEUES}/teams.team-c`, { spec: { max: { cpu: '2' } } });
      const childTemplate = { weight: 5, guaranteed: { cpu: '3' }, max: { cpu: '4' }, preemption: { delay: '7s' } };
      expect((await scene.user()('PATCH', `${QUEUES}/teams`, { spec: { childTemplate } })).status).toBe(200);
      const followed = { parent: 'teams', weight: 5, preemption: { policy: 'Fence', delay: '7s', preferNear: false } };
      const untilSpec = (name: string, spec: object): Promise<void> =>
        eventually(async () => expect(at(await queue(name), 'spec')).toEqual(spec), PATIENCE_MS);
      await untilSpec('teams.team-a', { ...followed, guaranteed: { cpu: '2' }, max: { cpu: '4' } });
      await untilSpec('teams.team-c', { ...followed, max: { cpu: '2' } });
      expect(at(await queue('teams.team-b'), 'spec')).toEqual(at(before, 'spec'));

      await scene.user()('PATCH', `${QUEUES}/teams`, { spec: { guaranteed: { cpu: '5' } } });
      await untilSpec('teams.team-a', { ...followed, guaranteed: { cpu: '3' }, max: { cpu: '4' } });
      expect(at(await queue('teams.team-c'), 'spec')).toEqual({ ...followed, max: { cpu: '2' } });
      expect(await leader?.metrics()).toMatch(
        /plimsoll_queue_template_writes_total\{write="change",outcome="ok"\} [1-9]/,
      );
    },
  );

  test('the queues go with their parent', TEST, async () => {
    expect((await scene.user()('DELETE', `${QUEUES}/teams`)).status).toBe(200);
    await eventually(
      async () => expect((await scene.user()('GET', `${QUEUES}/teams.team-a`)).status).toBe(404),
      PATIENCE_MS,
    );
  });
});
