import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { startSandboxWebhook, type SandboxWebhook } from '#test/webhook/no-way-round/sandbox-webhook.ts';

const CORE = '/api/v1/namespaces';
const OURS = '/apis/plimsoll.dev/v1alpha1/namespaces';
const LIMITED = 'limited';
const FREE = 'free';
/** More than one caller may have in decision. */
const AT_ONCE = 40;

/** The API server of the sandbox asks the webhook, as a real one does. */
describe('limits of disruptions in namespaces that enforce them, and in others', () => {
  let webhook: SandboxWebhook;
  let client: KubeClient;
  let made = 0;

  beforeAll(async () => {
    webhook = await startSandboxWebhook();
    client = createClient(webhook.target.connection, { userAgent: 'test' });
    const label = { 'plimsoll.dev/disruption-limits': 'enforced' };
    await send('POST', CORE, { metadata: { name: LIMITED, labels: label } });
    await send('POST', CORE, { metadata: { name: FREE } });
    for (const name of [LIMITED, FREE]) await limit(name, 'web', { max: 1, window: '1h' });
  });
  afterAll(async () => {
    client.close();
    await webhook.stop();
  });

  async function limit(namespace: string, app: string, rate: object): Promise<void> {
    const spec = { selector: { matchLabels: { app } }, limits: [rate] };
    const answer = await send('POST', `${OURS}/${namespace}/disruptionlimits`, {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'DisruptionLimit',
      metadata: { name: app },
      spec,
    });
    expect(answer.kind).toBe('ok');
  }

  const send = (method: 'POST' | 'DELETE' | 'GET' | 'PUT', path: string, body?: unknown) =>
    client.request({ method, path, ...(body !== undefined && { body }) });

  async function pod(namespace: string, app: string): Promise<string> {
    const name = await pendingPod(namespace, app);
    const path = `${CORE}/${namespace}/pods/${name}`;
    const { object } = (await send('GET', path)) as { readonly object: object };
    const started = { ...object, status: { phase: 'Running' } };
    expect((await send('PUT', `${path}/status`, started)).kind).toBe('ok');
    return name;
  }

  async function pendingPod(namespace: string, app: string): Promise<string> {
    const name = `p${(made += 1)}`;
    const spec = { containers: [{ name: 'main', image: 'i' }] };
    const created = await send('POST', `${CORE}/${namespace}/pods`, { metadata: { name, labels: { app } }, spec });
    expect(created.kind).toBe('ok');
    return name;
  }

  const evict = (namespace: string, name: string) =>
    send('POST', `${CORE}/${namespace}/pods/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
    });

  async function debits(namespace: string): Promise<readonly unknown[]> {
    const found = await send('GET', `${OURS}/${namespace}/disruptionaccounts/plimsoll`);
    return found.kind === 'ok' ? itemsOf(at(found.object, 'status.debits')) : [];
  }

  test('the second eviction in an hour is refused with limit, window, rate and when to try again (S3-14, S3-36)', async () => {
    const [first, second] = [await pod(LIMITED, 'web'), await pod(LIMITED, 'web')];
    expect(await evict(LIMITED, first)).toMatchObject({ kind: 'ok' });
    const refused = await evict(LIMITED, second);
    expect(refused).toMatchObject({ kind: 'tooManyRequests' });
    // With a time to wait, kubectl drain would wait without a word, ten times.
    expect(refused).not.toHaveProperty('retryAfterSeconds');
    const text = /DisruptionLimit `web`: at most 1 pods may be removed in 1h; 1 were; try again in (\d+) s/;
    const [, seconds] = text.exec(textAt(refused, 'message')) ?? [];
    // The first was let through a moment ago.
    expect([Number(seconds) > 3_500, Number(seconds) <= 3_600]).toEqual([true, true]);
    expect(await debits(LIMITED)).toMatchObject([{ pod: first, component: 'Others', rules: ['limit/web'] }]);
  });

  test('a pod without a limit may always go (S3-22)', async () => {
    for (const name of [await pod(LIMITED, 'other'), await pod(LIMITED, 'other')])
      expect(await evict(LIMITED, name)).toMatchObject({ kind: 'ok' });
  });

  test('pods that never ran cost nothing, evicted or deleted, and go beyond the limit', async () => {
    await limit(LIMITED, 'new', { max: 1, window: '1h' });
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => pendingPod(LIMITED, 'new')));
    for (const name of [first, second]) expect(await evict(LIMITED, String(name))).toMatchObject({ kind: 'ok' });
    expect(await send('DELETE', `${CORE}/${LIMITED}/pods/${third}`)).toMatchObject({ kind: 'ok' });
    const [fourth, fifth] = [await pod(LIMITED, 'new'), await pod(LIMITED, 'new')];
    expect(await evict(LIMITED, fourth)).toMatchObject({ kind: 'ok' });
    expect(await evict(LIMITED, fifth)).toMatchObject({ kind: 'tooManyRequests' });
    expect(await evict(LIMITED, await pendingPod(LIMITED, 'new'))).toMatchObject({ kind: 'ok' });
  });

  test('deletions of a whole collection are counted without being waited for', async () => {
    await limit(LIMITED, 'all', { max: 1, window: '1h' });
    const names = await Promise.all(Array.from({ length: 5 }, () => pod(LIMITED, 'all')));
    const deleted = await client.request({
      method: 'DELETE',
      path: `${CORE}/${LIMITED}/pods`,
      query: { labelSelector: 'app=all' },
    });
    expect(deleted.kind).toBe('ok');
    await eventually(async () => {
      const counted = (await debits(LIMITED)).map((each) => at(each, 'pod'));
      expect(counted).toEqual(expect.arrayContaining(names));
    });
  });

  test('a deletion is counted with its caller and never refused (S3-49)', async () => {
    await limit(LIMITED, 'db', { max: 1, window: '1h' });
    const [first, second, third] = [await pod(LIMITED, 'db'), await pod(LIMITED, 'db'), await pod(LIMITED, 'db')];
    for (const name of [first, second])
      expect(await send('DELETE', `${CORE}/${LIMITED}/pods/${name}`)).toMatchObject({ kind: 'ok' });
    expect(await debits(LIMITED)).toEqual(
      expect.arrayContaining(
        [first, second].map(
          (name) => expect.objectContaining({ pod: name, caller: expect.any(String) as string }) as object,
        ),
      ),
    );
    expect(await evict(LIMITED, third)).toMatchObject({ kind: 'tooManyRequests' });
  });

  test('many deletions at once by one caller, as by a controller that scales down, are let through', async () => {
    const names = await Promise.all(Array.from({ length: AT_ONCE }, () => pod(LIMITED, 'many')));
    await limit(LIMITED, 'many', { max: 1, window: '1h' });
    const answers = await Promise.all(names.map((name) => send('DELETE', `${CORE}/${LIMITED}/pods/${name}`)));
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['ok']));
  });

  test('where the label is missing, no eviction is asked about, and none is refused', async () => {
    for (const name of [await pod(FREE, 'web'), await pod(FREE, 'web')])
      expect(await evict(FREE, name)).toMatchObject({ kind: 'ok' });
    expect(await debits(FREE)).toEqual([]);
  });

  test('a budget that needs all the pods that it selects is refused, in any spelling, and others are not (S3-17)', async () => {
    const policy = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'plimsoll' } };
    const set = { path: '/apis/plimsoll.dev/v1alpha1/disruptionpolicies', spec: { forbiddingBudgets: 'Deny' } };
    expect((await send('POST', set.path, { ...policy, spec: set.spec })).kind).toBe('ok');
    for (let index = 0; index < 3; index += 1) await pod(FREE, 'three');
    const budget = (spec: object, app = 'three') => {
      const metadata = { name: `b${(made += 1)}` };
      const selector = { matchLabels: { app } };
      const path = `/apis/policy/v1/namespaces/${FREE}/poddisruptionbudgets`;
      const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { selector, ...spec } };
      return client.request({ method: 'POST', path, query: { dryRun: 'All' }, body });
    };
    const text = expect.stringContaining('it selects 3 pods') as string;
    await eventually(async () => {
      expect(await budget({ minAvailable: '99%' })).toMatchObject({ kind: 'forbidden', message: text });
    });
    for (const minAvailable of [3, 4, '67%', '99%'])
      expect(await budget({ minAvailable })).toMatchObject({ kind: 'forbidden', message: text });
    for (const spec of [{ minAvailable: 2 }, { minAvailable: '66%' }, { maxUnavailable: '1%' }])
      expect(await budget(spec)).toMatchObject({ kind: 'ok' });
    expect(await budget({ minAvailable: '99%' }, 'of-no-pod')).toMatchObject({ kind: 'ok' });
    expect(await send('DELETE', `${set.path}/plimsoll`)).toMatchObject({ kind: 'ok' });
  });

  test('a budget that selects pods of another is refused, and one whose selector stays is not', async () => {
    const policies = '/apis/plimsoll.dev/v1alpha1/disruptionpolicies';
    const policy = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'plimsoll' } };
    expect((await send('POST', policies, { ...policy, spec: { forbiddingBudgets: 'Deny' } })).kind).toBe('ok');
    await pod(FREE, 'two');
    const path = `/apis/policy/v1/namespaces/${FREE}/poddisruptionbudgets`;
    const budget = (name: string, app: string, maxUnavailable = 1) => {
      const spec = { maxUnavailable, selector: { matchLabels: { app } } };
      return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec };
    };
    expect(await send('POST', path, budget('first', 'two'))).toMatchObject({ kind: 'ok' });
    const text = expect.stringContaining('selects 1 of the pods of budget first') as string;
    await eventually(async () => {
      expect(await send('POST', path, budget('second', 'two'))).toMatchObject({ kind: 'forbidden', message: text });
      await send('DELETE', `${path}/second`);
    });
    expect(await send('POST', path, budget('third', 'of-no-pod'))).toMatchObject({ kind: 'ok' });
    expect(await send('PUT', `${path}/third`, budget('third', 'two'))).toMatchObject({ kind: 'forbidden' });
    expect(await send('PUT', `${path}/first`, budget('first', 'two', 2))).toMatchObject({ kind: 'ok' });
    for (const name of ['first', 'third'])
      expect(await send('DELETE', `${path}/${name}`)).toMatchObject({ kind: 'ok' });
    expect(await send('DELETE', `${policies}/plimsoll`)).toMatchObject({ kind: 'ok' });
  });

  test('without the webhook, evictions are let through where the label is missing, and only there; deletions everywhere', async () => {
    const [free, limited] = [await pod(FREE, 'web'), await pod(LIMITED, 'other')];
    await webhook.stopWebhook();
    expect(await evict(FREE, free)).toMatchObject({ kind: 'ok' });
    expect(await evict(LIMITED, limited)).toMatchObject({ kind: 'serverError' });
    expect(await send('DELETE', `${CORE}/${LIMITED}/pods/${limited}`)).toMatchObject({ kind: 'ok' });
  });
});
