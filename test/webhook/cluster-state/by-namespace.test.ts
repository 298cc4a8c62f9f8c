import { describe, expect, test } from 'vitest';
import type { Reflector, Change, ChangeListener } from '#shared/kube/reflector/reflector.ts';
import { byNamespace } from '#webhook/cluster-state/cached-state.ts';

interface Thing {
  readonly namespace: string;
  readonly name: string;
  readonly size: number;
}

function start() {
  let listener: ChangeListener<Thing> | undefined;
  const onChange: Reflector<Thing>['onChange'] = (given) => {
    listener = given;
    return () => undefined;
  };
  const look = byNamespace({ onChange } as Reflector<Thing>);
  const change = (kind: Change<Thing>['kind'], namespace: string, name: string, size = 1): void =>
    listener?.({ kind, key: `${namespace}/${name}`, value: { namespace, name, size } });
  return { look, change };
}

describe('byNamespace', () => {
  test('follows every change of a namespace, in order of names', () => {
    const { look, change } = start();
    change('added', 'a', 'y');
    change('added', 'a', 'x');
    change('added', 'b', 'z');
    expect(look('a').map(({ name }) => name)).toEqual(['x', 'y']);
    change('modified', 'a', 'x', 2);
    expect(look('a').map(({ name, size }) => [name, size])).toEqual([
      ['x', 2],
      ['y', 1],
    ]);
    change('deleted', 'a', 'x');
    change('deleted', 'a', 'y');
    expect([look('a'), look('b').length, look('never seen')]).toEqual([[], 1, []]);
  });

  test('a change elsewhere makes nothing anew', () => {
    const { look, change } = start();
    change('added', 'a', 'x');
    const before = look('a');
    change('added', 'b', 'x');
    change('deleted', 'b', 'x');
    expect(look('a')).toBe(before);
  });
});
