import { afterEach, describe, expect, test } from 'vitest';
import type { ApiDouble } from '#test/fakes/api-double.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { createPodReview, pod, readAnswer } from './support/reviews.ts';
import { PODS, PRIORITY_QUOTAS } from './support/webhook-process.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { patternOf } from '#test/build/pattern-of.ts';
import { eventually } from '#test/build/waiting.ts';
import { fastClock } from '#test/fakes/fast-clock.ts';
import { HIGH, quota, quotaEntry, sized } from './support/quota-entry.ts';

describe('the quota entry', () => {
  const entry = quotaEntry();
  const { start, ask, status, resize } = entry;
  afterEach(() => entry.stop());

  test('charges pods of all namespaces to one quota, and refuses what does not fit', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('high-tier', { 'requests.memory': '2Gi' })));
    expect(await ask('one')).toMatchObject({ allowed: true });
    expect(await ask('two', 'team-b')).toMatchObject({ allowed: true });
    expect(await ask('three')).toMatchObject({
      allowed: false,
      code: 403,
      message: MESSAGES.quotaExceeded.text({
        priorityClassName: 'high',
        quota: 'high-tier',
        where: 'over all its namespaces',
        resource: 'requests.memory',
        hard: '2Gi',
        used: '2Gi',
        asked: '1Gi',
        free: undefined,
        others: [],
        holders: [PHRASES.largestNamespaces('`team-a`, `team-b`')],
      }),
    });
    expect(status('high-tier')).toEqual({ used: { 'requests.memory': '2Gi' }, reserved: ['one', 'two'], counted: 1 });
  });

  test('refuses a pod that does not state what is limited, in the words of a ResourceQuota, and charges nothing', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('high-tier', { 'requests.memory': '2Gi', 'limits.cpu': '4' })));
    expect(await ask('one')).toMatchObject({
      allowed: false,
      code: 403,
      message: 'failed quota: high-tier: must specify limits.cpu for: main',
    });
    expect(status('high-tier').reserved).toEqual([]);
  });

  test('charges the default of the quota for what a pod does not state', async () => {
    const given = quota('high-tier', { 'limits.cpu': '500m' });
    const spec = { ...(given['spec'] as object), defaultRequest: { 'limits.cpu': '300m' } };
    await start((api) => api.put(PRIORITY_QUOTAS, { ...given, spec }));
    expect(await ask('one')).toMatchObject({ allowed: true });
    expect(await ask('two')).toMatchObject({ allowed: false, code: 403 });
    expect(status('high-tier').used).toEqual({ 'limits.cpu': '300m' });
  });

  test('names the largest pods of the own namespace, and no others', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '3' }));
      for (const [name, namespace] of [
        ['mine', 'team-a'],
        ['theirs', 'team-b'],
        ['theirs-too', 'team-b'],
      ])
        api.put(PODS, pod(HIGH, { uid: name, name, namespace }) as StoredObject);
    });
    const { message } = await ask('one');
    expect(message?.split('; ').slice(-2)).toEqual([
      PHRASES.largestNamespaces('`team-b`, `team-a`'),
      PHRASES.largestPodsIn('team-a', '`mine` (1)'),
    ]);
  });

  test('names no other namespace if so configured', async () => {
    const putAll = (api: ApiDouble): void => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '2' }));
      for (const namespace of ['team-a', 'team-b'])
        api.put(PODS, pod(HIGH, { uid: namespace, name: 'holder', namespace }) as StoredObject);
    };
    await start(putAll, { quotaHoldersNamed: 'Own' });
    const { message } = await ask('one');
    expect(message?.split('; ').slice(-2)).toEqual([
      PHRASES.largestNamespaces('`team-a`'),
      PHRASES.largestPodsIn('team-a', '`holder` (1)'),
    ]);
  });

  test('takes no room for creations of names that pods have, however often they are asked for', async () => {
    const names = ['web-0', 'web-1'];
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      for (const name of names) api.put(PODS, pod(HIGH, { uid: `of-${name}`, name }) as StoredObject);
    });
    for (const [turn, name] of [...names, ...names, ...names].entries()) {
      const again = pod(HIGH, { uid: `uid-${turn}`, name, namespace: 'team-a' });
      const answer = await entry.webhook.post('/validate/quota', createPodReview(again, { namespace: 'team-a' }));
      expect(readAnswer(answer.body)).toMatchObject({ allowed: true });
    }
    expect(status('q').used).toEqual({ pods: '2' });
    for (const other of ['a', 'b', 'c']) expect(await ask(other, 'team-b')).toMatchObject({ allowed: true });
    expect(await ask('d', 'team-b')).toMatchObject({ allowed: false, code: 403 });
  });

  test('counts the existing pods before it is ready', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' }));
      api.put(PODS, pod(HIGH, { uid: 'old', name: 'old' }) as StoredObject);
      api.put(PODS, pod({ priorityClassName: 'low' }, { uid: 'low', name: 'low' }) as StoredObject);
      api.put(PODS, pod(HIGH, { uid: 'elsewhere', name: 'x', namespace: 'not-enforced' }) as StoredObject);
    });
    expect(status('q')).toMatchObject({ used: { pods: '1' }, counted: 1 });
  });

  test('keeps of a pod with very many and very long resource names what the quota limits, and nothing else', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: '200', 'requests.example.com/0': '500' })));
    const domain = `${`${'x'.repeat(59)}.`.repeat(4)}test`;
    const names = Array.from({ length: 70 }, (_, index) => `${domain}/${String(index).padStart(63, 'x')}`);
    const requests = Object.fromEntries(['example.com/0', ...names].map((name) => [name, '1']));
    const resources = { requests };
    const fat = { ...HIGH, containers: [{ name: 'main', resources }] };
    const body = (uid: string) => createPodReview(pod(fat, { uid, name: uid }), { namespace: 'team-a' });
    for (let index = 0; index < 75; index += 1) {
      const answer = readAnswer((await entry.webhook.post('/validate/quota', body(`fat-${index}`))).body);
      expect(answer).toMatchObject({ allowed: true });
      expect(JSON.stringify(entry.webhook.api.get(PRIORITY_QUOTAS, 'q')?.['status']).length).toBeLessThan(
        (index + 5) * 300,
      );
    }
    expect(await ask('plain')).toMatchObject({ allowed: true });
    expect(status('q').used).toEqual({ pods: '76', 'requests.example.com/0': '75' });
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['a UID that is too long', { uid: 'u'.repeat(300) }, {}, 'object.metadata.uid'],
    ['a UID of two parts', { uid: 'pod.request' }, {}, 'object.metadata.uid'],
    ['no UID', {}, {}, 'object.metadata.uid'],
    ['a request with too long a UID', { uid: 'one' }, { uid: 'r'.repeat(100) }, 'request.uid'],
    ['too long a namespace', { uid: 'one' }, { namespace: 'n'.repeat(64) }, 'request.namespace'],
    ['too long a name', { uid: 'one', name: 'n'.repeat(254) }, {}, 'request.name'],
  ])(
    'refuses %s, which could not be stored, and charges other pods of the same batch',
    async (_, metadata, request, field) => {
      await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: '5' })));
      const body = createPodReview(pod(HIGH, metadata), { namespace: 'team-a', ...request });
      const [odd, plain] = await Promise.all([entry.webhook.post('/validate/quota', body), ask('plain')]);
      const refused = readAnswer(odd.body);
      expect(refused).toMatchObject({ allowed: false, code: 400 });
      expect(refused.message).toMatch(new RegExp(`^${field}: `));
      expect(plain).toMatchObject({ allowed: true });
      expect(status('q').reserved).toEqual(['plain']);
    },
  );

  test('charges all quotas that count a pod, or none of them', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('a-wide', { pods: '5' }));
      api.put(PRIORITY_QUOTAS, quota('b-narrow', { pods: '0' }));
    });
    expect(await ask('one')).toMatchObject({ allowed: false });
    await eventually(() => expect(status('a-wide')).toMatchObject({ used: { pods: '0' }, reserved: [] }));
  });

  test('charges nothing in a dry run', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: '1' })));
    expect(await ask('one', 'team-a', { dryRun: true })).toMatchObject({ allowed: true });
    expect(status('q')).toMatchObject({ used: { pods: '0' }, reserved: [] });
  });

  test('charges a resize with its growth alone', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { 'requests.memory': '2560Mi' })));
    expect(await ask('one')).toMatchObject({ allowed: true });
    expect(await resize(sized('1Gi', 1), sized('512Mi', 2))).toMatchObject({ allowed: true });
    expect(await resize(sized('1Gi', 1), sized('2Gi', 2))).toMatchObject({ allowed: true });
    expect(status('q').used).toEqual({ 'requests.memory': '2Gi' });
    expect(await resize(sized('1Gi', 1), sized('2Gi', 2))).toMatchObject({ allowed: false });
  });

  test('charges a resize of a pod whose last one is still infeasible', async () => {
    const infeasible = {
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      containerStatuses: [{ name: 'main', resources: { requests: { memory: '512Mi' } } }],
    };
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { 'requests.memory': '1Gi' }));
      api.put(PODS, sized('512Mi', 2, infeasible));
    });
    const answer = await resize(sized('512Mi', 2, infeasible), sized('4608Mi', 3, infeasible));
    expect(answer).toMatchObject({ allowed: false, code: 403 });
    expect(await resize(sized('512Mi', 2, infeasible), sized('1Gi', 3, infeasible))).toMatchObject({ allowed: true });
  });

  test('forgets a resize as soon as the pod is counted with it, also where sizes go up and down in turn', async () => {
    await start((api) => {
      api.put(PRIORITY_QUOTAS, quota('q', { 'requests.memory': '2Gi' }));
      api.put(PODS, sized('1Gi', 1));
    });
    for (let generation = 1; generation < 7; generation += 2) {
      // Pods are counted once a second at most.
      const grow = () => resize(sized('1Gi', generation), sized('2Gi', generation + 1));
      await eventually(async () => expect(await grow()).toMatchObject({ allowed: true }), 5_000);
      expect(status('q').used).toEqual({ 'requests.memory': '2Gi' });
      entry.webhook.api.put(PODS, sized('1Gi', generation + 2));
      expect(await resize(sized('2Gi', generation + 1), sized('1Gi', generation + 2))).toMatchObject({ allowed: true });
    }
  });

  test('asks to retry when the ledger cannot be written', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: '1' })));
    entry.webhook.api.failing = 503;
    const answer = await ask('one');
    entry.webhook.api.failing = undefined;
    expect(answer).toMatchObject({ allowed: false, code: 429 });
    expect(answer.message).toMatch(patternOf((cause) => MESSAGES.quotaBusy.text({ quota: 'q', cause })));
  });

  const silences: Record<string, { silent: RegExp; namespace: string; code: number }> = {
    'the ledger': { silent: /priorityquotas/, namespace: 'team-a', code: 429 },
    'a namespace that is not known to be enforced': { silent: /namespaces/, namespace: 'team-new', code: 429 },
    'the pods that hold a full quota': { silent: /pods$/, namespace: 'team-a', code: 403 },
  };
  test.each(Object.entries(silences))(
    'decides before its own deadline while the API server is silent about %s',
    async (_, { silent, namespace, code }) => {
      await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: code === 403 ? '0' : '1' })), {}, fastClock(4));
      entry.webhook.api.silent = silent;
      const body = createPodReview(pod(HIGH, { uid: 'one', name: 'one', namespace }), { namespace });
      const { status, body: answer } = await entry.webhook.post('/validate/quota', body);
      expect({ status, code: readAnswer(answer).code }, answer).toEqual({ status: 200, code });
      const { response } = JSON.parse(answer) as { response: { status: { details?: object } } };
      expect(response.status.details).toEqual(code === 429 ? { retryAfterSeconds: 1 } : undefined);
    },
  );

  test('allows a pod that no quota counts', async () => {
    await start((api) => api.put(PRIORITY_QUOTAS, quota('q', { pods: '0' })));
    const body = createPodReview(pod({ priorityClassName: 'low', priority: 1 }, { uid: 'x' }));
    expect(readAnswer((await entry.webhook.post('/validate/quota', body)).body)).toMatchObject({ allowed: true });
  });
});
