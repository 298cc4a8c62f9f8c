import { describe, expect, test } from 'vitest';
import { Store } from '#sandbox/api-server/storage/store.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

function map(name: string, labels: Record<string, string> = {}): KubeObject {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'team', labels } };
}

const isBlue = ({ metadata }: KubeObject): boolean => metadata.labels?.['colour'] === 'blue';

describe('Store', () => {
  test('gives every write of any collection the next version', () => {
    const store = new Store(10);
    const first = store.put('configmaps.', map('a'));
    const second = store.put('secrets.', map('b'));
    const gone = store.remove('configmaps.', first.object);
    expect([second.number, gone.number]).toEqual([first.number + 1, first.number + 2]);
    expect(gone.object.metadata.resourceVersion).toBe(String(gone.number));
    expect(first.object.metadata.resourceVersion).toBe(String(first.number));
  });

  test('lists in the order of keys', () => {
    const store = new Store(10);
    for (const name of ['b', 'c', 'a']) store.put('configmaps.', map(name));
    expect(
      store
        .collection('configmaps.')
        .values()
        .map(({ key }) => key),
    ).toEqual(['team/a', 'team/b', 'team/c']);
  });

  test('makes the bytes of a state once', () => {
    const view = { apiVersion: 'v1', convert: undefined };
    const revision = new Store(10).put('configmaps.', map('a'));
    expect(revision.jsonIn(view)).toBe(revision.jsonIn(view));
    expect(JSON.parse(revision.jsonIn(view).toString())).toEqual(revision.object);
  });

  test('keeps as many changes as configured, and says from where it can resume', () => {
    const store = new Store(3);
    const { history } = store.collection('configmaps.');
    const numbers = Array.from({ length: 10 }, (_, n) => store.put('configmaps.', map(`m${n}`)).number);
    expect(history.floor).toBe(numbers[6]);
    expect(history.since(history.floor).map(({ number }) => number)).toEqual(numbers.slice(7));
    expect(history.since(numbers[8] ?? 0).map(({ number }) => number)).toEqual(numbers.slice(9));
    store.compact();
    expect([history.floor, history.since(history.floor)]).toEqual([store.revision, []]);
  });

  test('a selection is entered by ADDED and left by DELETED with the state it had inside', () => {
    const store = new Store(10);
    store.put('configmaps.', map('a'));
    store.put('configmaps.', map('a', { colour: 'blue' }));
    store.put('configmaps.', map('a', { colour: 'blue', size: 'l' }));
    const left = store.put('configmaps.', map('a', { colour: 'red' }));
    store.remove('configmaps.', left.object);
    const changes = store.collection('configmaps.').history.since(0);
    expect(changes.map((change) => change.typeFor(isBlue))).toEqual([
      undefined,
      'ADDED',
      'MODIFIED',
      'DELETED',
      undefined,
    ]);
    expect(changes[3]?.revisionFor('DELETED').object.metadata).toMatchObject({
      labels: { colour: 'blue', size: 'l' },
      resourceVersion: String(left.number),
    });
  });
});
