import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { processScene } from '#test/scheduler/process-scene.ts';

const TIMEOUT_MS = 60_000;
const QUEUES = '/apis/plimsoll.dev/v1alpha1/queues';
const GATE = 'plimsoll.dev/queue';
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--queues-passes=On'];

describe('the leader of the queues, with templates', { timeout: TIMEOUT_MS }, () => {
  const { client, send, start } = processScene();

  beforeAll(async () => {
    await send('POST', '/api/v1/nodes', { metadata: { name: 'node-0' }, status: { allocatable: { cpu: '8' } } });
    await queue('teams', { namespaceSelector: { matchLabels: { kind: 'team' } }, ...TEMPLATES });
    for (const name of ['team-a', 'team-b']) {
      const labels = { kind: 'team', 'plimsoll.dev/queues': 'managed' };
      await send('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    }
    await start(FLAGS);
  }, TIMEOUT_MS);

  async function queue(name: string, spec: object): Promise<unknown> {
    return send('POST', QUEUES, { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name }, spec });
  }

  async function createPod(namespace: string, name: string): Promise<void> {
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }];
    const spec = { containers, schedulingGates: [{ name: GATE }] };
    await send('POST', `/api/v1/namespaces/${namespace}/pods`, { metadata: { name }, spec });
  }

  const isThere = async (name: string): Promise<boolean> =>
    (await client().request({ path: `${QUEUES}/${name}` })).kind === 'ok';

  test('a queue is made for each namespace, and its pods are let in to it', async () => {
    for (const team of ['team-a', 'team-b']) {
      await createPod(team, 'first');
      await eventually(async () => {
        const pod = await send('GET', `/api/v1/namespaces/${team}/pods/first`);
        expect(at(pod, 'spec.schedulingGates') ?? []).toEqual([]);
        const annotations = at(pod, 'metadata.annotations') as Readonly<Record<string, string>>;
        expect(JSON.parse(annotations['plimsoll.dev/admitted'] ?? '{}')).toMatchObject({ queue: `teams.${team}` });
      }, TIMEOUT_MS);
      const made = await send('GET', `${QUEUES}/teams.${team}`);
      expect(at(made, 'spec')).toEqual({
        parent: 'teams',
        weight: 1,
        max: { cpu: '2' },
        preemption: { policy: 'Disabled', delay: '2m' },
      });
    }
  });

  test('the queues follow a change of the template, but for what a person has changed', async () => {
    await send('PATCH', `${QUEUES}/teams.team-b`, { spec: { weight: 7 } });
    const preemption = { delay: null };
    await send('PATCH', `${QUEUES}/teams`, { spec: { childTemplate: { weight: 4, max: { cpu: '3' }, preemption } } });
    const followed = { parent: 'teams', max: { cpu: '3' }, preemption: { policy: 'Disabled' } };
    await eventually(async () => {
      expect(at(await send('GET', `${QUEUES}/teams.team-a`), 'spec')).toEqual({ ...followed, weight: 4 });
      expect(at(await send('GET', `${QUEUES}/teams.team-b`), 'spec')).toEqual({ ...followed, weight: 7 });
    }, TIMEOUT_MS);
  });

  test('the first hour without pods is counted in its status; after it, the queue is removed', async () => {
    await send('DELETE', '/api/v1/namespaces/team-a/pods/first', { gracePeriodSeconds: 0 });
    const conditions = await eventually(async () => {
      const all = at(await send('GET', `${QUEUES}/teams.team-a`), 'status.conditions') as readonly object[];
      expect(all).toContainEqual(expect.objectContaining({ type: 'Empty', status: 'True' }));
      return all;
    }, TIMEOUT_MS);
    const lastTransitionTime = new Date(systemClock.now() - 3_600_000).toISOString();
    const earlier = conditions.map((each) => (at(each, 'type') === 'Empty' ? { ...each, lastTransitionTime } : each));
    await send('PATCH', `${QUEUES}/teams.team-a/status`, { status: { conditions: earlier } });
    await eventually(async () => expect(await isThere('teams.team-a')).toBe(false), TIMEOUT_MS);
    expect(await isThere('teams.team-b')).toBe(true);
  });

  test.each<[string, object, string]>([
    [
      'more for each than the queue has',
      { guaranteed: { cpu: 2 }, childTemplate: { guaranteed: { cpu: '2500m' } } },
      'childTemplate.guaranteed must not be greater than guaranteed',
    ],
    ['more than each may have', { childTemplate: { max: { cpu: 1 }, guaranteed: { cpu: 2 } } }, 'greater than'],
    ['what the queue has no guarantee of', { childTemplate: { guaranteed: { cpu: 1 } } }, 'greater than guaranteed'],
  ])('a template that guarantees %s is refused', async (_, spec, text) => {
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name: 'bad' }, spec };
    const outcome = await client().request({ method: 'POST', path: QUEUES, body });
    expect(outcome).toMatchObject({ kind: 'invalid', message: expect.stringContaining(text) as unknown });
  });
});

const TEMPLATES = { childTemplate: { max: { cpu: '2' }, preemption: { policy: 'Disabled', delay: '2m' } } };
