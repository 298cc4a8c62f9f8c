import { expect, test } from 'vitest';
import { at, configMap, contractHarness, type ContractTarget, pod, refusal, uniqueName } from './harness.ts';
import { patched, type Reviewer } from './webhook-receiver.ts';
import { ADMISSION, webhookRegistrar } from './webhook-registrar.ts';
import { eventually } from '#test/build/waiting.ts';

/** Registered webhooks are called as Kubernetes documents it. */
export function webhookContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const maps = (name = ''): string => api.core(name === '' ? 'configmaps' : `configmaps/${name}`);
  const { receiver, register, entry } = webhookRegistrar(api);

  const calls = (): readonly string[] => receiver().received.map(({ path }) => path);

  test('a configuration gets its defaults', async () => {
    const { body } = await api.get(await register('validating', { path: '/defaults' }));
    expect(at(body, 'webhooks.0')).toMatchObject({
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      objectSelector: {},
      rules: [{ scope: '*' }],
    });
  });

  test('a refusal names the webhook, and keeps code, reason and message', async () => {
    const status = { code: 403, reason: 'Forbidden', message: 'not today' };
    await register('validating', { path: '/deny', reviewer: () => ({ allowed: false, status }) });
    const { status: code, body } = await api.post(maps(), configMap('x'));
    expect(code).toBe(403);
    const message = 'admission webhook "deny.plimsoll.dev" denied the request: not today';
    expect(body).toMatchObject(refusal(403, 'Forbidden', message));
    expect((await api.get(maps('x'))).status).toBe(404);
  });

  test('a refusal without words is a 400 without explanation', async () => {
    await register('validating', { path: '/mute', reviewer: () => ({ allowed: false }) });
    const { status, body } = await api.post(maps(), configMap('x'));
    expect([status, at(body, 'message')]).toEqual([
      400,
      'admission webhook "mute.plimsoll.dev" denied the request without explanation',
    ]);
  });

  test('429 carries Retry-After to the caller, warnings reach it, too', async () => {
    const status = { code: 429, message: 'later', details: { retryAfterSeconds: 7 } };
    await register('validating', {
      path: '/later',
      reviewer: () => ({ allowed: false, status, warnings: ['careful'] }),
    });
    const answer = await api.post(maps(), configMap('x'));
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7']);
    expect(answer.headers['warning']).toBe('299 - "careful"');
  });

  test('a mutating webhook changes the object, before the validating one sees it', async () => {
    const add = [{ op: 'add', path: '/data/added', value: 'yes' }];
    await register('mutating', { path: '/mutate', reviewer: () => patched(add) });
    await register('validating', { path: '/validate' });
    const { status, body } = await api.post(maps(), configMap('mutated'));
    expect([status, at(body, 'data')]).toEqual([201, { value: '1', added: 'yes' }]);
    expect(calls()).toEqual(['/mutate', '/validate']);
    expect(at(receiver().received[1]?.request, 'object.data.added')).toBe('yes');
  });

  test('mutating entries run in order, and once more when something after them changed the object', async () => {
    const count: Reviewer = (request) => {
      const seen = Number(at(request, 'object.data.first') ?? 0);
      return patched([{ op: 'add', path: '/data/first', value: String(seen + 1) }]);
    };
    const label = [{ op: 'add', path: '/data/second', value: 'yes' }];
    await register(
      'mutating',
      { path: '/first', reviewer: count, reinvocationPolicy: 'IfNeeded' },
      { path: '/second', reviewer: () => patched(label) },
    );
    const { body } = await api.post(maps(), configMap('again'));
    expect(at(body, 'data')).toEqual({ value: '1', first: '2', second: 'yes' });
    expect(calls()).toEqual(['/first', '/second', '/first']);
  });

  test('a create is reviewed with what is known by then', async () => {
    await register('mutating', { path: '/before' });
    await register('validating', { path: '/after' });
    const { body } = await api.post(api.core('pods'), pod('', {}, { name: undefined, generateName: 'gen-' }));
    const [before, after] = receiver().received.map(({ request }) => request);
    expect(before).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestKind: { group: '', version: 'v1', kind: 'Pod' },
      namespace: api.namespace,
      operation: 'CREATE',
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
      object: { kind: 'Pod', apiVersion: 'v1', spec: { priority: 0 } },
    });
    expect([at(before, 'name'), at(before, 'object.metadata.uid'), at(before, 'object.metadata.name')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(after).toMatchObject({
      name: at(body, 'metadata.name'),
      object: { metadata: { uid: at(body, 'metadata.uid'), name: at(body, 'metadata.name') } },
    });
    expect(at(after, 'uid')).not.toBe(at(before, 'uid'));
  });

  test('an update is reviewed with both objects, a delete with the old one', async () => {
    await api.post(maps(), configMap('life'));
    await register('validating', { path: '/life' });
    await api.patch(maps('life'), { data: { value: '2' } }, 'merge');
    await api.remove(maps('life'));
    const [update, removal] = receiver().received.map(({ request }) => request);
    expect(update).toMatchObject({
      operation: 'UPDATE',
      name: 'life',
      object: { data: { value: '2' } },
      oldObject: { data: { value: '1' } },
      options: { kind: 'UpdateOptions' },
    });
    expect(removal).toMatchObject({
      operation: 'DELETE',
      name: 'life',
      object: null,
      oldObject: { data: { value: '2' } },
      options: { kind: 'DeleteOptions' },
    });
  });

  test('an eviction is reviewed as such, and nothing else follows from it', async () => {
    await api.post(api.core('pods'), pod('evicted', { nodeName: 'node-x' }));
    await register('validating', { path: '/evict' });
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted', namespace: api.namespace } };
    expect((await api.post(api.core('pods/evicted/eviction'), body)).status).toBe(201);
    expect(receiver().received.map(({ request }) => request)).toMatchObject([
      {
        operation: 'CREATE',
        subResource: 'eviction',
        kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
        name: 'evicted',
        object: { kind: 'Eviction' },
        oldObject: null,
      },
    ]);
  });

  test('dry runs say so', async () => {
    await register('validating', { path: '/dry' });
    await api.post(maps(), configMap('x'), { query: { dryRun: 'All' } });
    expect(receiver().received).toMatchObject([{ request: { dryRun: true } }]);
  });

  test('side effects must be declared', async () => {
    const webhooks = [entry('/effects', { sideEffects: 'Some' })];
    const path = `${ADMISSION}/validatingwebhookconfigurations`;
    const { status, body } = await api.post(path, { metadata: { name: uniqueName('bad') }, webhooks });
    expect(status).toBe(422);
    expect(at(body, 'message')).toContain('webhooks[0].sideEffects: Unsupported value: "Some"');
  });

  test('a webhook that cannot be reached fails the request, or is passed over: its policy decides', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/nobody' };
    const path = await register('validating', { path: '/closed', clientConfig, failurePolicy: 'Fail' });
    const { status, body } = await api.post(maps(), configMap('x'));
    expect(status).toBe(500);
    expect(body).toMatchObject(
      refusal(500, 'InternalError', expect.stringContaining('failed calling webhook "closed.plimsoll.dev"')),
    );
    await api.patch(path, [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }], 'json');
    await eventually(async () => expect((await api.post(maps(), configMap('passed'))).status).toBe(201));
  });

  test('a webhook that hangs is given up after its time', async () => {
    await register('validating', { path: '/hang', reviewer: () => undefined, timeoutSeconds: 1 });
    const startedAt = performance.now();
    const { status, body } = await api.post(maps(), configMap('x'));
    expect(status).toBe(500);
    expect(at(body, 'message')).toContain('context deadline exceeded');
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test.each<[string, object]>([
    ['namespaces', { namespaceSelector: { matchLabels: { none: 'such' } } }],
    ['labels', { objectSelector: { matchLabels: { none: 'such' } } }],
    [
      'operations',
      { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }] },
    ],
    ['resources', { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods/*'] }] }],
    ['a CEL condition', { matchConditions: [{ name: 'no', expression: "request.userInfo.username == 'nobody'" }] }],
  ])('is not called where it is limited by %s', async (_, changes) => {
    const reviewer: Reviewer = () => ({ allowed: false });
    await register('validating', { path: '/limited', reviewer, ...changes });
    expect((await api.post(maps(), configMap(uniqueName('free')))).status).toBe(201);
    expect(calls()).toEqual([]);
  });

  test('CEL conditions see object, request and user', async () => {
    const expression =
      "object.metadata.name.startsWith('cel-') && request.operation == 'CREATE' && has(object.data.value)";
    await register('validating', { path: '/cel', matchConditions: [{ name: 'ours', expression }] });
    await api.post(maps(), configMap('cel-yes'));
    await api.post(maps(), configMap('no-cel'));
    expect(receiver().received.map(({ request }) => request['name'])).toEqual(['cel-yes']);
  });

  test('a condition that is no CEL is refused at registration', async () => {
    const webhooks = [entry('/bad', { matchConditions: [{ name: 'bad', expression: 'request.' }] })];
    const path = `${ADMISSION}/validatingwebhookconfigurations`;
    const { status, body } = await api.post(path, { metadata: { name: uniqueName('bad') }, webhooks });
    expect(status).toBe(422);
    expect(at(body, 'message')).toContain('webhooks[0].matchConditions[0].expression');
  });
}
