import { describe, expect, test } from 'vitest';
import { EMPTY_LEDGER, largestHolders } from '#shared/domain/quota/ledger/ledger-state.ts';
import { largestNamespaces, largestShare } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import { ZERO, type Quantity } from '#shared/domain/quantity/quantity.ts';
import { amountsOf } from '#test/build/cluster.ts';

/** In the order of limits: pods, memory, and something of which there is none. */
const HARD = quantities('1000', '1Ti', '0');

function quantities(...texts: readonly string[]): readonly Quantity[] {
  return texts.map((text) => amountsOf({ any: text }).get('any') ?? ZERO);
}

function shares(used: readonly (readonly [string, readonly Quantity[]])[]): ReadonlyMap<string, number> {
  return new Map(used.map(([name, amounts]) => [name, largestShare(amounts, HARD)]));
}

describe('largestNamespaces', () => {
  test('keeps a hundred and fewer as they are', () => {
    expect(largestNamespaces(shares([['b', quantities('1', '0', '0')]]), 100)).toEqual(['b']);
  });

  test('keeps the hundred with the largest share of anything, the first by name where equal', () => {
    const many = Array.from({ length: 150 }, (_, index) => [`n${1_000 + index}`, quantities('1', '0', '0')] as const);
    const large = [
      ['z-memory', quantities('0', '512Gi', '0')],
      ['z-pods', quantities('600', '0', '0')],
      ['z-over-nothing', quantities('0', '0', '1')],
      ['z-idle', quantities('0', '0', '0')],
    ] as const;
    const names = largestNamespaces(shares([...large, ...many.toReversed()]), 100);
    expect(names.slice(-4)).toEqual(['n1096', 'z-memory', 'z-over-nothing', 'z-pods']);
    expect({ size: names.length, first: names[0] }).toEqual({ size: 100, first: 'n1000' });
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

  test.each<[string, Record<string, string>, readonly string[]]>([
    ['the largest first', { a: '1', b: '3', c: '2' }, ['b', 'c', 'a']],
    ['equal ones by name', { c: '2', a: '2', b: '2' }, ['a', 'b', 'c']],
    ['three of four', { d: '1', c: '4', b: '4', a: '5' }, ['a', 'b', 'c']],
  ])('names %s', (_, used, expected) => {
    const byNamespace = new Map(Object.entries(used).map(([name, pods]) => [name, amountsOf({ pods })]));
    expect(largestHolders({ ...EMPTY_LEDGER, byNamespace }, 'pods')).toEqual(expected);
  });
});
