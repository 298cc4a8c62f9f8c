import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { KubeRequest } from '#shared/kube/client/transport.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createChildQueues } from '#scheduler/queues/child-queues.ts';
import { decodeStoredQueue } from '#scheduler/queues/stored-queue.ts';
import { valueOf } from '#test/build/value-of.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/queues/queue-world.ts';

const HOUR_MS = 3_600_000;
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
      ...{ name: 'teams.shop', uid: 'uid-shop', resourceVersion: '9' },
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
  const keep = createChildQueues({
    ...{ client, clock },
    log: createLog({ component: 'scheduler', level: 'silent', format: 'json' }),
    queues: () => queues.map((each) => valueOf(decodeStoredQueue(each))),
    term: { isHeld: () => state.isHeld },
  });
  const round = async (afterMs = 0) => {
    await clock.advance(afterMs);
    await keep(world.plan(), new AbortController().signal);
    return requests.splice(0).map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`);
  };
  return { ...world, state, requests, keep, round };
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
