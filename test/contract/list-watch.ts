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
  type WatchLine,
} from './harness.ts';

/** Selectors, pages, watches from a version, bookmarks. */
export function listWatchContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const maps = (name = ''): string => api.core(name === '' ? 'configmaps' : `configmaps/${name}`);
  const OURS = 'set';

  async function make(prefix: string, ...names: readonly string[]): Promise<void> {
    for (const name of names) await api.post(maps(), configMap(`${prefix}-${name}`, { [OURS]: prefix, name }));
  }

  async function version(): Promise<string> {
    return textAt((await api.get(maps())).body, 'metadata.resourceVersion');
  }

  test('lists in order of names, with items that do not repeat their kind', async () => {
    await make('order', 'b', 'a', 'c');
    const { body } = await api.get(maps(), { query: { labelSelector: 'set=order' } });
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(at(body, 'metadata.resourceVersion')).toMatch(/^\d+$/);
    expect(at(body, 'items.0.kind')).toBeUndefined();
    expect((at(body, 'items') as unknown[]).map((item) => at(item, 'metadata.name'))).toEqual([
      'order-a',
      'order-b',
      'order-c',
    ]);
  });

  test.each([
    ['set=sel', ['sel-a', 'sel-b', 'sel-c']],
    ['set=sel,name!=a', ['sel-b', 'sel-c']],
    ['set=sel,name in (a,c)', ['sel-a', 'sel-c']],
    ['set=sel,name notin (a)', ['sel-b', 'sel-c']],
    ['set=sel,name', ['sel-a', 'sel-b', 'sel-c']],
    ['set=sel,!name', []],
  ])('selects labels by %s', async (labelSelector, expected) => {
    await make('sel', 'a', 'b', 'c');
    expect(namesOf(await api.get(maps(), { query: { labelSelector } }))).toEqual(expected);
  });

  test('refuses selectors that are none', async () => {
    const label = await api.get(maps(), { query: { labelSelector: 'a in (' } });
    expect(label.status).toBe(400);
    expect(at(label.body, 'message')).toContain('unable to parse requirement');
    const field = await api.get(maps(), { query: { fieldSelector: 'data.value=1' } });
    expect(field.status).toBe(400);
    expect(field.body).toMatchObject(
      refusal(400, 'BadRequest', expect.stringMatching(/^"data.value" is not a known field selector/)),
    );
  });

  test('selects pods by node, phase and name', async () => {
    const pods = api.core('pods');
    await api.post(pods, pod('on-a', { nodeName: 'node-a' }));
    await api.post(pods, pod('on-b', { nodeName: 'node-b' }));
    const by = (fieldSelector: string): Promise<readonly string[]> =>
      api.get(pods, { query: { fieldSelector } }).then(namesOf);
    expect(await by('spec.nodeName=node-a')).toEqual(['on-a']);
    expect(await by('spec.nodeName!=node-a,metadata.name=on-b')).toEqual(['on-b']);
    expect(await by('status.phase=Pending')).toEqual(['on-a', 'on-b']);
    expect(await by(`metadata.namespace=${api.namespace},status.phase!=Pending`)).toEqual([]);
  });

  test('pages with limit and continue over one consistent state', async () => {
    await make('page', 'a', 'b', 'c', 'd', 'e');
    const query = { labelSelector: 'set=page', limit: 2 };
    const first = await api.get(maps(), { query });
    expect(namesOf(first)).toEqual(['page-a', 'page-b']);
    await api.remove(maps('page-d'));
    const second = await api.get(maps(), { query: { ...query, continue: textAt(first.body, 'metadata.continue') } });
    expect(namesOf(second)).toEqual(['page-c', 'page-d']);
    expect(at(second.body, 'metadata.resourceVersion')).toBe(at(first.body, 'metadata.resourceVersion'));
    const third = await api.get(maps(), { query: { ...query, continue: textAt(second.body, 'metadata.continue') } });
    expect(namesOf(third)).toEqual(['page-e']);
    expect(at(third.body, 'metadata.continue')).toBeUndefined();
    const bad = await api.get(maps(), { query: { ...query, continue: 'nonsense' } });
    expect(bad.status).toBe(400);
  });

  test('counts what remains when nothing is selected', async () => {
    const { body } = await api.get('/api/v1/namespaces', { query: { limit: 1 } });
    expect(at(body, 'metadata.remainingItemCount')).toBeGreaterThan(0);
  });

  test('a watch after a version brings what happened since, in order', async () => {
    await make('watch', 'a');
    const from = await version();
    await make('watch', 'b');
    await api.patch(maps('watch-a'), { data: { value: '2' } }, 'merge');
    await api.remove(maps('watch-b'));
    const events = await api.watch(maps(), { resourceVersion: from, labelSelector: 'set=watch' }, 3);
    expect(events.map(summary)).toEqual(['ADDED watch-b', 'MODIFIED watch-a', 'DELETED watch-b']);
    expect(events[0]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    const versions = events.map(({ object }) => BigInt(textAt(object, 'metadata.resourceVersion')));
    expect([...versions].sort((a, b) => (a < b ? -1 : 1))).toEqual(versions);
  });

  test('a watch without version begins with what there is', async () => {
    await make('fresh', 'a', 'b');
    const events = await api.watch(maps(), { labelSelector: 'set=fresh' }, 2);
    expect(events.map(summary).sort()).toEqual(['ADDED fresh-a', 'ADDED fresh-b']);
  });

  test('a selection is entered and left by ADDED and DELETED', async () => {
    await make('enter', 'a');
    const from = await version();
    await api.patch(maps('enter-a'), { metadata: { labels: { extra: 'yes' } } }, 'merge');
    await api.patch(maps('enter-a'), { metadata: { labels: { extra: null } } }, 'merge');
    const events = await api.watch(maps(), { resourceVersion: from, labelSelector: 'extra=yes' }, 2);
    expect(events.map(summary)).toEqual(['ADDED enter-a', 'DELETED enter-a']);
  });

  test('a watch can follow one object by field', async () => {
    await make('field', 'a', 'b');
    const query = { fieldSelector: 'metadata.name=field-b', timeoutSeconds: 1 };
    expect((await api.watch(maps(), query, 9)).map(summary)).toEqual(['ADDED field-b']);
  });

  test('a watch ends after timeoutSeconds', async () => {
    const startedAt = performance.now();
    await api.watch(maps(), { resourceVersion: await version(), timeoutSeconds: 1 }, 99);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });

  test('a bookmark tells of progress elsewhere, with a kind and a version and nothing else', async () => {
    const resourceVersion = await version();
    await make('elsewhere', 'a');
    const query = { resourceVersion, labelSelector: 'set=mark', allowWatchBookmarks: true, timeoutSeconds: 8 };
    const bookmark = (await api.watch(maps(), query, 99)).find(({ type }) => type === 'BOOKMARK');
    expect(bookmark?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(at(bookmark?.object, 'metadata.resourceVersion')).toMatch(/^\d+$/);
    expect(at(bookmark?.object, 'metadata.name')).toBeUndefined();
  });

  test('a list can come as a watch, closed by a marked bookmark', async () => {
    await make('stream', 'a', 'b');
    const query = {
      labelSelector: 'set=stream',
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
      timeoutSeconds: 5,
    };
    const events = await api.watch(maps(), query, 3);
    expect(events.map(summary)).toEqual(['ADDED stream-a', 'ADDED stream-b', 'BOOKMARK undefined']);
    const annotations = at(events[2]?.object, 'metadata.annotations') as Record<string, string>;
    expect(annotations['k8s.io/initial-events-end']).toBe('true');
  });

  test('a version that is no number is refused', async () => {
    const { status, body } = await api.get(maps(), { query: { watch: true, resourceVersion: 'abc' } });
    const message = 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax';
    expect([status, at(body, 'message')]).toEqual([500, message]);
  });

  test('events of both API groups are one kind of object', async () => {
    const event = {
      metadata: { name: 'shared', namespace: api.namespace },
      involvedObject: { kind: 'ConfigMap', name: 'x', namespace: api.namespace },
      reason: 'Tested',
      message: 'a message',
      type: 'Normal',
    };
    expect((await api.post(api.core('events'), event)).status).toBe(201);
    const { body } = await api.get(`/apis/events.k8s.io/v1/namespaces/${api.namespace}/events/shared`);
    expect(body).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding: { name: 'x' }, note: 'a message' });
  });
}

function summary({ type, object }: WatchLine): string {
  return `${type} ${String(at(object, 'metadata.name'))}`;
}
