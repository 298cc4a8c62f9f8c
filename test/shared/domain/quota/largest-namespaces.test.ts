import { describe, expect, test } from 'vitest';
import { largestHolders } from '#shared/domain/quota/largest-holders.ts';
import { largestNamespaces } from '#shared/domain/quota/largest-namespaces.ts';
import { EMPTY_LEDGER } from '#shared/domain/quota/ledger-state.ts';
import { amountsOf } from '#test/build/cluster.ts';

const HARD = amountsOf({ pods: '1000', memory: '1Ti', none: '0' });

describe('largestNamespaces', () => {
  test('keeps a hundred and fewer as they are', () => {
    const few = new Map([['b', amountsOf({ pods: '1' })]]);
    expect(largestNamespaces(few, HARD)).toBe(few);
  });

  test('keeps the hundred with the largest share of anything, by name where equal', () => {
    const many = Array.from({ length: 150 }, (_, index) => [`n${1_000 + index}`, amountsOf({ pods: '1' })] as const);
    const large = [
      ['z-memory', amountsOf({ pods: '0', memory: '512Gi' })],
      ['z-pods', amountsOf({ pods: '600' })],
      ['z-over-nothing', amountsOf({ none: '1' })],
      ['z-idle', amountsOf({ none: '0' })],
    ] as const;
    const names = [...largestNamespaces(new Map([...many, ...large]), HARD).keys()];
    expect(names.slice(0, 4)).toEqual(['z-over-nothing', 'z-pods', 'z-memory', 'n1000']);
    expect({ size: names.length, last: names.at(-1) }).toEqual({ size: 100, last: 'n1096' });
  });
});

describe('largestHolders', () => {
  test('counts pods and reservations together, and names at most three', () => {
    const byNamespace = new Map(
      Object.entries({ a: '1', b: '2', c: '2', d: '0' }).map(([name, pods]) => [name, amountsOf({ pods })]),
    );
    const reservation = (uid: string, namespace: string) =>
      [uid, { uid, namespace, pod: uid, amounts: amountsOf({ pods: '1' }), admittedAt: 0 }] as const;
    const reservations = new Map([reservation('x', 'a'), reservation('y', 'a'), reservation('z', 'e')]);
    const state = { ...EMPTY_LEDGER, byNamespace, reservations };
    expect(largestHolders(state, 'pods')).toEqual(['a', 'b', 'c']);
    expect(largestHolders(state, 'memory')).toEqual([]);
  });
});
