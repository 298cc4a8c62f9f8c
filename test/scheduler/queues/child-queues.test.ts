import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createChildQueues } from '#scheduler/queues/child-queues.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { decodeStoredQueue } from '#scheduler/queues/stored-queue.ts';
import { valueOf } from '#test/build/value-of.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] };
const TEAMS = withUid(queueFor('shop', { childTemplate: { weight: 2, max: { cpu: 3 } } }, 'teams'));

function withUid(queue: object): object {
  return { ...queue, metadata: { ...(queue as { metadata: object }).metadata, uid: 'uid-teams' } };
}

/** The queue of namespace `shop`, and since when it is empty, in milliseconds. */
function madeQueue(emptySince: number, more: object = {}): object {
  const lastTransitionTime = new Date(emptySince).toISOString();
  return {
    metadata: {
      name: 'teams.shop',
      uid: 'uid-shop',
      resourceVersion: '9',
      labels: { 'app.kubernetes.io/managed-by': 'plimsoll-queues' },
      ...more,
    },
    spec: { parent: 'teams' },
    status: { conditions: [{ type: 'Empty', status: 'True', lastTransitionTime }] },
  };
}

function stage(queues: readonly object[], answer: (request: KubeRequest) => Outcome<unknown> = () => OK) {
  const world = queueWorld(queues);
  const clock = manualClock(HOUR_MS);
  const { client, requests } = scriptedClient(answer);
  const state = { isHeld: true };
  const metrics = createMetrics('scheduler');
  const keep = createChildQueues({
    client,
    clock,
    metrics: createQueueMetrics(metrics),
    log: createLog({ component: 'scheduler', level: 'silent', format: 'json' }),
    queues: () => queues.map((each) => valueOf(decodeStoredQueue(each))),
    term: { isHeld: () => state.isHeld },
  });
  const round = async (afterMs = 0) => {
    await clock.advance(afterMs);
    await keep(world.plan(), new AbortController().signal);
    return requests.splice(0).map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`);
  };
  return { ...world, state, requests, keep, round, metrics };
}

describe('queues that the leader makes from templates', () => {
  test('one for the namespace of a waiting pod, below the queue that owns it, with what the template says', async () => {
    const { see, keep, plan, requests } = stage([TEAMS]);
    see({ name: 'a', gates: [GATE] });
    await keep(plan(), new AbortController().signal);
    expect(requests).toMatchObject([{ method: 'POST', path: '/apis/plimsoll.dev/v1alpha1/queues' }]);
    expect(requests[0]?.body).toEqual({
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Queue',
      metadata: {
        name: 'teams.shop',
        labels: { 'app.kubernetes.io/managed-by': 'plimsoll-queues' },
        annotations: { 'plimsoll.dev/from-template': '{"weight":2,"max.cpu":"3"}' },
        ownerReferences: [{ apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', name: 'teams', uid: 'uid-teams' }],
      },
      spec: { parent: 'teams', weight: 2, max: { cpu: '3' } },
    });
  });

  test('also for pods that were on nodes before, and not for those of namespaces that are not managed', async () => {
    const { see, manage, round } = stage([TEAMS]);
    manage('plain', { team: 'shop' });
    see({ name: 'a', namespace: 'plain', node: 'node-0', phase: 'Running' });
    expect(await round()).toEqual([]);
    see({ name: 'b', node: 'node-0', phase: 'Running' });
    expect(await round()).toEqual(['POST queues']);
  });

  test('the first time, and again after ten seconds where the watch does not show it', async () => {
    const answers: Outcome<unknown>[] = [
      { kind: 'forbidden', message: 'no' },
      { kind: 'alreadyExists', message: '' },
    ];
    const { see, round } = stage([TEAMS], () => answers.shift() ?? OK);
    see({ name: 'a', gates: [GATE] });
    expect([await round(), await round(9_999), await round(1), await round(10_000)]).toEqual([
      ['POST queues'],
      [],
      ['POST queues'],
      ['POST queues'],
    ]);
  });

  test('twenty in a round at most, the others in the next', async () => {
    const { see, manage, round } = stage([TEAMS]);
    for (let index = 0; index < 30; index += 1) {
      manage(`ns-${index}`, { team: 'shop', 'plimsoll.dev/queues': 'managed' });
      see({ name: `pod-${index}`, namespace: `ns-${index}`, gates: [GATE] });
    }
    expect([(await round()).length, (await round()).length, (await round()).length]).toEqual([20, 10, 0]);
  });

  test('are removed after an hour without pods, only as they were read', async () => {
    const { round } = stage([TEAMS, madeQueue(1_000)]);
    expect([await round(999), await round(1), await round(9_999)]).toEqual([[], ['DELETE queues/teams.shop'], []]);
    const { keep, plan, requests } = stage([TEAMS, madeQueue(0)]);
    await keep(plan(), new AbortController().signal);
    expect(requests[0]?.body).toMatchObject({ preconditions: { uid: 'uid-shop', resourceVersion: '9' } });
  });

  test.each<[string, (world: ReturnType<typeof stage>) => void]>([
    ['a waiting pod', ({ see }) => see({ name: 'a', gates: [GATE] })],
    ['a pod that was let in', ({ see }) => see({ name: 'a', admittedTo: 'teams.shop' })],
    ['a pod on a node', ({ see }) => see({ name: 'a', node: 'node-0', phase: 'Running', cpu: 0 })],
  ])('are kept while %s is in them', async (_, fill) => {
    const world = stage([TEAMS, madeQueue(0)]);
    fill(world);
    expect(await world.round()).toEqual([]);
  });

  test('are kept once a person has removed the label', async () => {
    expect(await stage([TEAMS, madeQueue(0, { labels: {} })]).round()).toEqual([]);
  });

  test('neither made nor removed after the term of the leader', async () => {
    const { see, state, round } = stage([TEAMS, madeQueue(0)]);
    see({ name: 'a', namespace: 'other', gates: [GATE] });
    state.isHeld = false;
    expect(await round()).toEqual([]);
  });
});

describe('queues that were made from a template, after it has changed', () => {
  const made = (written: object | undefined, more: object = {}, spec: object = {}): object => ({
    metadata: {
      name: 'teams.shop',
      uid: 'uid-shop',
      resourceVersion: '9',
      labels: { 'app.kubernetes.io/managed-by': 'plimsoll-queues' },
      annotations: written && { 'plimsoll.dev/from-template': JSON.stringify(written) },
      ...more,
    },
    spec: { parent: 'teams', weight: 1, max: { cpu: '2', memory: '1Gi' }, ...spec },
  });
  const WRITTEN = { weight: 1, 'max.cpu': '2', 'max.memory': '1Gi' };

  test('are changed in one write, as they were read, and the annotation says what was written', async () => {
    const { keep, plan, requests, metrics } = stage([TEAMS, made(WRITTEN)]);
    await keep(plan(), new AbortController().signal);
    expect(requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/apis/plimsoll.dev/v1alpha1/queues/teams.shop',
        contentType: 'application/merge-patch+json',
      },
    ]);
    expect(requests[0]?.body).toEqual({
      metadata: {
        uid: 'uid-shop',
        resourceVersion: '9',
        annotations: { 'plimsoll.dev/from-template': '{"weight":2,"max.cpu":"3"}' },
      },
      spec: { weight: 2, max: { cpu: '3', memory: null } },
    });
    expect(await metrics.text()).toContain('plimsoll_queue_template_writes_total{write="change",outcome="ok"} 1\n');
  });

  test('lose a map whole rather than be left with an empty one', async () => {
    const template = { ...TEAMS, spec: { childTemplate: { weight: 1 } } };
    const { keep, plan, requests } = stage([template, made(WRITTEN)]);
    await keep(plan(), new AbortController().signal);
    expect(requests[0]?.body).toMatchObject({ spec: { max: null } });
  });

  const owner = (manager: string) => [
    { manager, operation: 'Update', fieldsV1: { 'f:spec': { 'f:weight': {}, 'f:max': { '.': {}, 'f:cpu': {} } } } },
  ];
  test.each<[string, object]>([
    ['no annotation says what was written', made(undefined)],
    ['its annotation cannot be read', made(undefined, { annotations: { 'plimsoll.dev/from-template': '{' } })],
    ['a person has taken the label off', made(WRITTEN, { labels: {} })],
    ['a person has put it below another queue', made(WRITTEN, {}, { parent: 'others' })],
    ['nothing differs', made({ weight: 2, 'max.cpu': '3' }, {}, { weight: 2, max: { cpu: '3' } })],
  ])('stay where %s', async (_, queue) => {
    const others = { metadata: { name: 'others', uid: 'uid-others' }, spec: { childTemplate: { weight: 2 } } };
    expect(await stage([TEAMS, others, queue]).round()).toEqual([]);
  });

  test.each<[string, object, object]>([
    ['differs from what was written', made(WRITTEN, {}, { weight: 9 }), { max: { cpu: '3', memory: null } }],
    ['another writer owns', made(WRITTEN, { managedFields: owner('kubectl') }), { max: { memory: null } }],
    [
      'the leader owns',
      made(WRITTEN, { managedFields: owner('plimsoll-scheduler') }),
      { weight: 2, max: { cpu: '3', memory: null } },
    ],
  ])('are changed but for a field that %s, unless it is its own', async (_, queue, spec) => {
    const { keep, plan, requests } = stage([TEAMS, queue]);
    await keep(plan(), new AbortController().signal);
    expect((requests[0]?.body as { spec: object }).spec).toEqual(spec);
  });

  test('get no guarantee that a queue which is made at the same time has', async () => {
    const teams = {
      ...TEAMS,
      spec: {
        namespaceSelector: { matchLabels: { team: 'shop' } },
        guaranteed: { cpu: 5 },
        childTemplate: { guaranteed: { cpu: 3 } },
      },
    };
    const old = made(
      { weight: 1, 'guaranteed.cpu': '2' },
      { name: 'teams.old' },
      { max: undefined, guaranteed: { cpu: '2' } },
    );
    const { see, round } = stage([teams, old]);
    see({ name: 'a', gates: [GATE] });
    expect(await round()).toEqual(['POST queues']);
  });

  test('are removed and not changed where both are due', async () => {
    const empty = { ...madeQueue(0), spec: { parent: 'teams' } };
    const annotations = { 'plimsoll.dev/from-template': '{"weight":1}' };
    const { metadata } = madeQueue(0, { annotations }) as { metadata: object };
    expect(await stage([TEAMS, { ...empty, metadata }]).round()).toEqual(['DELETE queues/teams.shop']);
  });

  test('are tried again after ten seconds where they had changed meanwhile', async () => {
    const { round } = stage([TEAMS, made(WRITTEN)], () => ({ kind: 'conflict', message: '' }));
    const change = 'PATCH queues/teams.shop';
    expect([await round(), await round(9_999), await round(1)]).toEqual([[change], [], [change]]);
  });
});
