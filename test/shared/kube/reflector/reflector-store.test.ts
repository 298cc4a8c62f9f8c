import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createStore } from '#shared/kube/reflector/reflector.ts';

const object = (namespace: string, name: string): KubeObject => ({ metadata: { namespace, name } });

function storeOf(mostOfNamespace: number | undefined) {
  const slim = ({ metadata }: KubeObject) => metadata.name;
  const store = createStore({ slim, mostOfNamespace, onError: (error) => expect.unreachable(String(error)) });
  const put = (...names: readonly string[]) => names.forEach((name) => store.set(object('a', name)));
  return { store, put, names: () => [...store.values()] };
}

describe('a store with a limit for each namespace', () => {
  test('keeps the objects that changed last, and says which one went', () => {
    const { store, put, names } = storeOf(2);
    const changes: string[] = [];
    store.onChange(({ kind, key }) => changes.push(`${kind} ${key}`));
    put('1', '2', '1', '3');
    expect(names()).toEqual(['1', '3']);
    expect(changes).toEqual(['added a/1', 'added a/2', 'modified a/1', 'deleted a/2', 'added a/3']);
  });

  test('takes nothing from another namespace', () => {
    const { store, put, names } = storeOf(2);
    store.set(object('b', 'other'));
    put('1', '2', '3');
    expect(names()).toEqual(['other', '2', '3']);
  });

  test('has room again for what is removed', () => {
    const { store, put, names } = storeOf(2);
    put('1', '2');
    store.remove(object('a', '1'));
    put('3');
    expect(names()).toEqual(['2', '3']);
  });

  test('keeps all without one', () => {
    const { put, names } = storeOf(undefined);
    put('1', '2', '3');
    expect(names()).toEqual(['1', '2', '3']);
  });
});
