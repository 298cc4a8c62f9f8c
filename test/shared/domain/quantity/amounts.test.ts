import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import {
  addAmounts,
  equalAmounts,
  filterAmounts,
  maxAmounts,
  NO_AMOUNTS,
  sortedNames,
  subtractAmounts,
} from '#shared/domain/quantity/amounts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import { amountsFrom, quantities } from '#test/build/quantities.ts';

function texts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

const names = fc.constantFrom('cpu', 'memory', 'pods', 'example.com/a');
const amounts: fc.Arbitrary<Amounts> = fc.array(fc.tuple(names, quantities)).map((entries) => new Map(entries));

describe('amounts', () => {
  const a = amountsFrom({ cpu: '0100m', memory: '1Gi' });
  const b = amountsFrom({ cpu: '100m', pods: '1' });

  test.each([
    ['a sum has what either has', addAmounts(a, b), { cpu: '200m', memory: '1Gi', pods: '1' }],
    ['nothing added keeps the spelling', addAmounts(a, NO_AMOUNTS), { cpu: '0100m', memory: '1Gi' }],
    ['added to nothing keeps the spelling', addAmounts(NO_AMOUNTS, a), { cpu: '0100m', memory: '1Gi' }],
    ['what is missing counts as zero in a difference', subtractAmounts(a, b), { cpu: '0', memory: '1Gi', pods: '-1' }],
    ['of equal amounts the first is the larger', maxAmounts(a, b), { cpu: '0100m', memory: '1Gi', pods: '1' }],
    ['the larger of something and nothing is something', maxAmounts(NO_AMOUNTS, b), { cpu: '100m', pods: '1' }],
    ['and so the other way round', maxAmounts(b, NO_AMOUNTS), { cpu: '100m', pods: '1' }],
    ['filtering keeps what matches', filterAmounts(a, (name) => name === 'cpu'), { cpu: '0100m' }],
  ])('%s', (_, result, expected) => {
    expect(texts(result)).toEqual(expected);
  });

  test('equal amounts may be spelled differently, but not named so', () => {
    expect(equalAmounts(amountsFrom({ cpu: '1' }), amountsFrom({ cpu: '1000m' }))).toBe(true);
    expect(equalAmounts(amountsFrom({ cpu: '1' }), amountsFrom({ memory: '1' }))).toBe(false);
    expect(equalAmounts(a, b)).toBe(false);
    expect(equalAmounts(a, NO_AMOUNTS)).toBe(false);
  });

  test('names are sorted', () => {
    expect(sortedNames(amountsFrom({ pods: '1', cpu: '1' }))).toEqual(['cpu', 'pods']);
  });

  test('adding and taking away again leaves what was there, and zeros', () => {
    fc.assert(
      fc.property(amounts, amounts, (used, charge) => {
        const left = subtractAmounts(addAmounts(used, charge), charge);
        const isOld = (name: string) => used.has(name);
        expect(equalAmounts(filterAmounts(left, isOld), used)).toBe(true);
        expect([...left].every(([name, amount]) => isOld(name) || quantitySign(amount) === 0)).toBe(true);
      }),
    );
  });

  test('the maximum is commutative in its amounts, and above both', () => {
    fc.assert(
      fc.property(amounts, amounts, (left, right) => {
        expect(equalAmounts(maxAmounts(left, right), maxAmounts(right, left))).toBe(true);
        expect(equalAmounts(maxAmounts(maxAmounts(left, right), left), maxAmounts(left, right))).toBe(true);
      }),
    );
  });
});
