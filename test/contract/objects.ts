import { expect, test } from 'vitest';
import {
  at,
  configMap,
  contractHarness,
  type ContractTarget,
  namesOf,
  pod,
  refusal,
  textAt,
  uniqueName,
} from './harness.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Create, read, replace, delete, with everything that can be wrong about them. */
export function objectContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const maps = (name = ''): string => api.core(name === '' ? 'configmaps' : `configmaps/${name}`);

  test('creates an object with identity and version', async () => {
    const created = await api.post(maps(), configMap('made', { a: 'b' }), { query: { fieldManager: 'tester' } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name: 'made',
        namespace: api.namespace,
        uid: expect.stringMatching(UUID) as string,
        resourceVersion: expect.stringMatching(/^[1-9]\d*$/) as string,
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
        labels: { a: 'b' },
        managedFields: [{ manager: 'tester', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }],
      },
      data: { value: '1' },
    });
    expect((await api.get(maps('made'))).body).toEqual(created.body);
  });

  test('refuses to create what exists', async () => {
    await api.post(maps(), configMap('twice'));
    const { status, body } = await api.post(maps(), configMap('twice'));
    expect(status).toBe(409);
    expect(body).toMatchObject(refusal(409, 'AlreadyExists', 'configmaps "twice" already exists'));
    expect(at(body, 'details')).toEqual({ name: 'twice', kind: 'configmaps' });
  });

  test('answers 404 for what is not there', async () => {
    const { status, body } = await api.get(maps('none'));
    expect(status).toBe(404);
    expect(body).toMatchObject(refusal(404, 'NotFound', 'configmaps "none" not found'));
    expect(at(body, 'details')).toEqual({ name: 'none', kind: 'configmaps' });
  });

  test('names the group of a resource in its refusals', async () => {
    const { body } = await api.get(`/apis/apps/v1/namespaces/${api.namespace}/deployments/none`);
    expect(body).toMatchObject(refusal(404, 'NotFound', 'deployments.apps "none" not found'));
    expect(at(body, 'details')).toEqual({ name: 'none', group: 'apps', kind: 'deployments' });
  });

  test('completes generateName with five characters', async () => {
    const { status, body } = await api.post(maps(), { metadata: { generateName: 'made-' } });
    expect(status).toBe(201);
    expect(at(body, 'metadata.name')).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(at(body, 'metadata.generateName')).toBe('made-');
  });

  test.each<[string, object, number, string, unknown]>([
    ['no name', { metadata: {} }, 422, 'Invalid', expect.stringContaining('name or generateName is required')],
    [
      'a name in capitals',
      configMap('Upper'),
      422,
      'Invalid',
      expect.stringContaining('metadata.name: Invalid value: "Upper"'),
    ],
    [
      'a foreign namespace',
      { metadata: { name: 'x', namespace: 'other' } },
      400,
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resourceVersion',
      { metadata: { name: 'x', resourceVersion: '1' } },
      500,
      '',
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'a label that is none',
      configMap('x', { 'a b': 'c' }),
      422,
      'Invalid',
      expect.stringContaining('metadata.labels'),
    ],
  ])('refuses to create with %s', async (_, object, code, reason, message) => {
    const { status, body } = await api.post(maps(), object);
    expect(status).toBe(code);
    expect(body).toMatchObject({ kind: 'Status', status: 'Failure', message, ...(reason === '' ? {} : { reason }) });
  });

  test.each<[string, string | object, unknown]>([
    ['cut-off JSON', '{"kind":"ConfigMap","apiVersion":"v1",', expect.stringContaining('unexpected end of JSON input')],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } },
      expect.stringContaining('Secret in version "v1" cannot be handled as a ConfigMap'),
    ],
    [
      'a wrong type',
      { metadata: { name: 'x' }, data: 7 },
      expect.stringContaining('ConfigMap in version "v1" cannot be handled as a ConfigMap'),
    ],
  ])('answers 400 for %s', async (_, body, message) => {
    const answer = await api.post(maps(), typeof body === 'string' ? Buffer.from(body) : body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject(refusal(400, 'BadRequest', message));
  });

  test('answers 413 for a body above three megabytes', async () => {
    const { status } = await api.post(maps(), Buffer.alloc(3_200_000, ' '));
    expect(status).toBe(413);
  });

  test('refuses to create in a namespace that is not there', async () => {
    const { status, body } = await api.post('/api/v1/namespaces/nowhere/configmaps', configMap('x'));
    expect(status).toBe(404);
    expect(body).toMatchObject(refusal(404, 'NotFound', 'namespaces "nowhere" not found'));
  });

  test('replaces with a new version, and keeps the version when nothing changes', async () => {
    const { body: first } = await api.post(maps(), configMap('put'));
    const { body: same } = await api.put(maps('put'), first);
    expect(at(same, 'metadata.resourceVersion')).toBe(at(first, 'metadata.resourceVersion'));
    const { status, body: changed } = await api.put(maps('put'), configMap('put', {}, '2'));
    expect(status).toBe(200);
    expect(at(changed, 'data')).toEqual({ value: '2' });
    expect(at(changed, 'metadata.resourceVersion')).not.toBe(at(first, 'metadata.resourceVersion'));
    expect(at(changed, 'metadata.uid')).toBe(at(first, 'metadata.uid'));
    expect(at(changed, 'metadata.creationTimestamp')).toBe(at(first, 'metadata.creationTimestamp'));
  });

  test('refuses to replace on an old version', async () => {
    const { body: first } = await api.post(maps(), configMap('stale'));
    await api.put(maps('stale'), configMap('stale', {}, '2'));
    const { status, body } = await api.put(maps('stale'), first);
    expect(status).toBe(409);
    const message =
      'Operation cannot be fulfilled on configmaps "stale": the object has been modified; please apply your changes to the latest version and try again';
    expect(body).toMatchObject(refusal(409, 'Conflict', message));
  });

  test('refuses to replace under another name or UID', async () => {
    await api.post(maps(), configMap('named'));
    const renamed = await api.put(maps('named'), configMap('other'));
    expect(renamed.status).toBe(400);
    expect(at(renamed.body, 'message')).toBe(
      'the name of the object (other) does not match the name on the URL (named)',
    );
    const uid = '00000000-0000-0000-0000-000000000000';
    const swapped = await api.put(maps('named'), { metadata: { name: 'named', uid } });
    expect(swapped.status).toBe(409);
    expect(at(swapped.body, 'message')).toContain('Precondition failed: UID in precondition');
  });

  test('counts generations of a spec, and only of a spec', async () => {
    const path = `/apis/policy/v1/namespaces/${api.namespace}/poddisruptionbudgets`;
    const budget = { metadata: { name: 'gen' }, spec: { minAvailable: 1, selector: { matchLabels: { a: 'none' } } } };
    expect(at((await api.post(path, budget)).body, 'metadata.generation')).toBe(1);
    const labelled = await api.patch(`${path}/gen`, { metadata: { labels: { a: 'b' } } }, 'merge');
    expect(at(labelled.body, 'metadata.generation')).toBe(1);
    const changed = await api.patch(`${path}/gen`, { spec: { minAvailable: 2 } }, 'merge');
    expect(at(changed.body, 'metadata.generation')).toBe(2);
  });

  test('deletes, and says what it deleted', async () => {
    const { body: made } = await api.post(maps(), configMap('gone'));
    const { status, body } = await api.remove(maps('gone'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'gone', kind: 'configmaps', uid: at(made, 'metadata.uid') },
    });
    expect((await api.get(maps('gone'))).status).toBe(404);
    expect((await api.remove(maps('gone'))).status).toBe(404);
  });

  test('deletes only under the preconditions given', async () => {
    const { body: made } = await api.post(maps(), configMap('guarded'));
    const uid = textAt(made, 'metadata.uid');
    const wrong = await api.remove(maps('guarded'), { preconditions: { uid: uid.replace(/^./, 'x') } });
    expect(wrong.status).toBe(409);
    expect(at(wrong.body, 'message')).toBe(
      `Operation cannot be fulfilled on ConfigMap "guarded": the UID in the precondition (${uid.replace(/^./, 'x')}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
    const old = await api.remove(maps('guarded'), { preconditions: { resourceVersion: '1' } });
    expect(old.status).toBe(409);
    expect((await api.remove(maps('guarded'), { preconditions: { uid } })).status).toBe(200);
  });

  test('waits for finalizers', async () => {
    const object = { metadata: { name: 'held', finalizers: ['test.plimsoll.dev/hold'] } };
    await api.post(maps(), object);
    const { status, body } = await api.remove(maps('held'));
    expect(status).toBe(200);
    expect(at(body, 'metadata.deletionTimestamp')).toEqual(expect.any(String));
    expect((await api.get(maps('held'))).status).toBe(200);
    await api.patch(maps('held'), { metadata: { finalizers: null } }, 'merge');
    expect((await api.get(maps('held'))).status).toBe(404);
  });

  test('deletes a collection by label', async () => {
    for (const name of ['c1', 'c2', 'c3']) await api.post(maps(), configMap(name, { set: name === 'c3' ? 'b' : 'a' }));
    const { status } = await api.remove(maps(), undefined, { query: { labelSelector: 'set=a' } });
    expect(status).toBe(200);
    expect(namesOf(await api.get(maps(), { query: { labelSelector: 'set' } }))).toEqual(['c3']);
  });

  test('gives a scheduled pod its time to end, and an unscheduled one none', async () => {
    const pods = api.core('pods');
    const grace = { terminationGracePeriodSeconds: 30 };
    await api.post(pods, pod('waiting', grace));
    await api.remove(`${pods}/waiting`);
    expect((await api.get(`${pods}/waiting`)).status).toBe(404);
    await api.post(pods, pod('bound', { ...grace, nodeName: uniqueName('node') }));
    const { status, body } = await api.remove(`${pods}/bound`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 30 } });
    const shorter = await api.remove(`${pods}/bound`, { gracePeriodSeconds: 5 });
    expect(at(shorter.body, 'metadata.deletionGracePeriodSeconds')).toBe(5);
    await api.remove(`${pods}/bound`, { gracePeriodSeconds: 0 });
    expect((await api.get(`${pods}/bound`)).status).toBe(404);
  });

  test('dry runs answer as if, and store nothing', async () => {
    const created = await api.post(maps(), configMap('dry'), { query: { dryRun: 'All' } });
    expect(created.status).toBe(201);
    expect(at(created.body, 'metadata.uid')).toMatch(UUID);
    expect((await api.get(maps('dry'))).status).toBe(404);
    await api.post(maps(), configMap('wet'));
    const changed = await api.patch(maps('wet'), { data: { value: '9' } }, 'merge', { query: { dryRun: 'All' } });
    expect(at(changed.body, 'data.value')).toBe('9');
    expect((await api.remove(maps('wet'), { dryRun: ['All'] })).status).toBe(200);
    expect(at((await api.get(maps('wet'))).body, 'data.value')).toBe('1');
    const odd = await api.post(maps(), configMap('odd'), { query: { dryRun: 'Some' } });
    expect(odd.status).toBe(422);
    expect(at(odd.body, 'message')).toContain('dryRun');
  });

  test('checks fields as strictly as asked', async () => {
    const object = { ...configMap('fields'), nonsense: 1 };
    const strict = await api.post(maps(), object, { query: { fieldValidation: 'Strict' } });
    expect(strict.status).toBe(400);
    expect(at(strict.body, 'message')).toBe(
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "nonsense"',
    );
    const warned = await api.post(maps(), object, { query: { fieldValidation: 'Warn', dryRun: 'All' } });
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"nonsense\\""');
    const ignored = await api.post(maps(), object, { query: { fieldValidation: 'Ignore' } });
    expect([ignored.status, ignored.headers['warning'], at(ignored.body, 'nonsense')]).toEqual([
      201,
      undefined,
      undefined,
    ]);
    const doubled = Buffer.from('{"metadata":{"name":"twin","name":"twin"}}');
    const refused = await api.post(maps(), doubled, { query: { fieldValidation: 'Strict' } });
    expect(at(refused.body, 'message')).toContain('duplicate field "metadata.name"');
  });
}
