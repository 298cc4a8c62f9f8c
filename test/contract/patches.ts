import { expect, test } from 'vitest';
import { at, configMap, contractHarness, type ContractTarget, pod, refusal } from './harness.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** JSON, merge and strategic merge patches, and server-side apply. */
export function patchContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const map = (name: string): string => api.core(`configmaps/${name}`);

  async function make(name: string): Promise<void> {
    await api.post(api.core('configmaps'), configMap(name, { a: 'b' }));
  }

  test('a merge patch sets, and removes by null', async () => {
    await make('merge');
    const { status, body } = await api.patch(map('merge'), { data: { value: null, other: 'x' } }, 'merge');
    expect([status, at(body, 'data')]).toEqual([200, { other: 'x' }]);
    expect(at(body, 'metadata.labels')).toEqual({ a: 'b' });
  });

  test('a patch that carries a version is conditional', async () => {
    await make('guard');
    const { body } = await api.get(map('guard'));
    const metadata = { resourceVersion: at(body, 'metadata.resourceVersion') };
    expect((await api.patch(map('guard'), { metadata, data: { value: '2' } }, 'merge')).status).toBe(200);
    const late = await api.patch(map('guard'), { metadata, data: { value: '3' } }, 'merge');
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject(refusal(409, 'Conflict', expect.stringContaining('the object has been modified')));
  });

  test('a JSON patch runs all of its operations or none', async () => {
    await make('json');
    const operations = [
      { op: 'test', path: '/data/value', value: '1' },
      { op: 'add', path: '/data/more', value: 'x' },
      { op: 'replace', path: '/metadata/labels/a', value: 'c' },
      { op: 'remove', path: '/data/value' },
    ];
    const { status, body } = await api.patch(map('json'), operations, 'json');
    expect([status, at(body, 'data'), at(body, 'metadata.labels')]).toEqual([200, { more: 'x' }, { a: 'c' }]);
    const failing = [
      { op: 'add', path: '/data/late', value: 'x' },
      { op: 'test', path: '/data/more', value: 'y' },
    ];
    const refused = await api.patch(map('json'), failing, 'json');
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject(
      refusal(422, 'Invalid', expect.stringContaining('the server rejected our request')),
    );
    expect(at((await api.get(map('json'))).body, 'data')).toEqual({ more: 'x' });
  });

  test('a strategic merge patch merges lists by their keys', async () => {
    await api.post(api.core('pods'), pod('strategic'));
    const spec = { containers: [{ name: 'main', image: 'registry.test/idle:2' }] };
    const { status, body } = await api.patch(api.core('pods/strategic'), { spec }, 'strategic');
    expect(status).toBe(200);
    expect(at(body, 'spec.containers.0.image')).toBe('registry.test/idle:2');
    expect(at(body, 'spec.containers.0.terminationMessagePath')).toBe('/dev/termination-log');
    const tolerations = [{ key: 'plimsoll.dev/test', operator: 'Exists', effect: 'NoSchedule' }];
    const extended = await api.patch(api.core('pods/strategic'), { spec: { tolerations } }, 'strategic');
    expect(at(extended.body, 'spec.tolerations')).toEqual(expect.arrayContaining(tolerations));
  });

  test('a patch of what is not there is 404, of an unknown kind 415', async () => {
    expect((await api.patch(map('none'), {}, 'merge')).status).toBe(404);
    await make('type');
    const odd = await api.patch(map('type'), {}, 'merge', { contentType: 'text/plain' });
    expect(odd.status).toBe(415);
    expect(at(odd.body, 'reason')).toBe('UnsupportedMediaType');
  });

  const applied = (data: object): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'applied' },
    data,
  });
  const as = (fieldManager: string, force = false) => ({ query: { fieldManager, force } });

  test('apply creates, owns, and takes away what it no longer names', async () => {
    const path = map('applied');
    const created = await api.patch(path, applied({ a: '1', b: '1' }), 'apply', as('one'));
    expect(created.status).toBe(201);
    expect(at(created.body, 'metadata.managedFields')).toMatchObject([
      { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } },
    ]);
    const dropped = await api.patch(path, applied({ a: '1' }), 'apply', as('one'));
    expect([dropped.status, at(dropped.body, 'data')]).toEqual([200, { a: '1' }]);
    const second = await api.patch(path, applied({ c: '1' }), 'apply', as('two'));
    expect(at(second.body, 'data')).toEqual({ a: '1', c: '1' });
  });

  test('apply refuses to take a field from another manager, unless forced', async () => {
    const path = map('applied');
    const refused = await api.patch(path, applied({ a: '2' }), 'apply', as('three'));
    expect(refused.status).toBe(409);
    const message = 'Apply failed with 1 conflict: conflict with "one": .data.a';
    expect(refused.body).toMatchObject(refusal(409, 'Conflict', message));
    expect(at(refused.body, 'details.causes')).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
    ]);
    const forced = await api.patch(path, applied({ a: '2' }), 'apply', as('three', true));
    expect([forced.status, at(forced.body, 'data.a')]).toEqual([200, '2']);
  });

  test("kubectl's apply on the server takes over what its apply on the client set, and that was not changed since", async () => {
    const wanted = { ...configMap('moved', { a: 'b' }), data: { kept: '1', changed: '1' } };
    const annotations = { [LAST_APPLIED]: JSON.stringify(wanted) };
    const stored = { ...wanted, metadata: { name: 'moved', labels: { a: 'b' }, annotations } };
    const byClient = { query: { fieldManager: 'kubectl-client-side-apply' } };
    expect((await api.post(api.core('configmaps'), stored, byClient)).status).toBe(201);
    const apply = (data: object, fieldManager = 'kubectl') =>
      api.patch(map('moved'), { ...configMap('moved'), data }, 'apply', { query: { fieldManager } });
    expect((await apply({ kept: '2', changed: '1' }, 'other')).status).toBe(409);
    expect((await apply({ kept: '2', changed: '1' })).status).toBe(200);
    await api.patch(map('moved'), { data: { changed: 'by hand' } }, 'merge', { query: { fieldManager: 'hand' } });
    const refused = await apply({ kept: '3', changed: '2' });
    expect([refused.status, at(refused.body, 'message')]).toEqual([
      409,
      expect.stringMatching(/^Apply failed with 1 conflict: conflict with "hand".*: \.data\.changed$/),
    ]);
  });

  test('apply wants a field manager', async () => {
    const { status } = await api.patch(map('applied'), applied({}), 'apply');
    expect([400, 422]).toContain(status);
  });
}
