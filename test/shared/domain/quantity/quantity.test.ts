import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalQuantity, formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  type Quantity,
  addQuantities,
  compareQuantities,
  quantityFromInteger,
  quantityFromMilli,
  quantityMilliNumber,
  quantityMilliValue,
  quantityNumber,
  quantitySign,
  quantityValue,
  subtractQuantities,
  ZERO,
  type Amounts,
  addAmounts,
  equalAmounts,
  filterAmounts,
  maxAmounts,
  NO_AMOUNTS,
  sortedNames,
  subtractAmounts,
} from '#shared/domain/quantity/quantity.ts';
import { quantities, quantityOf, quantityTexts, amountsFrom } from '#test/build/quantities.ts';

function expectEqual(a: Quantity, b: Quantity): void {
  expect([compareQuantities(a, b), compareQuantities(b, a)]).toEqual([0, 0]);
}

/** The amount as a multiple of 10^-9, in which every quantity is whole. */
function nano(a: Quantity): bigint {
  return BigInt(a.mantissa) * 10n ** BigInt(a.exponent + 9);
}

describe('arithmetic is a commutative group', () => {
  test('a + b is b + a', () => {
    fc.assert(fc.property(quantities, quantities, (a, b) => expectEqual(addQuantities(a, b), addQuantities(b, a))));
  });

  test('(a + b) + c is a + (b + c)', () => {
    const law = (a: Quantity, b: Quantity, c: Quantity) => {
      expectEqual(addQuantities(addQuantities(a, b), c), addQuantities(a, addQuantities(b, c)));
    };
    fc.assert(fc.property(quantities, quantities, quantities, law));
  });

  test('zero changes nothing, and a - a is zero', () => {
    fc.assert(
      fc.property(quantities, (a) => {
        expectEqual(addQuantities(a, ZERO), a);
        expect(quantitySign(subtractQuantities(a, a))).toBe(0);
      }),
    );
  });

  test('adding and taking away again is identity', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => expectEqual(subtractQuantities(addQuantities(a, b), b), a)),
    );
  });

  test('sums and order are those of integers', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        expect(nano(addQuantities(a, b))).toBe(nano(a) + nano(b));
        const [left, right] = [nano(a), nano(b)];
        expect(compareQuantities(a, b)).toBe(left < right ? -1 : Number(left > right));
      }),
    );
  });
});

describe('printing', () => {
  /** Above E there is no suffix, and text no longer says the amount (oddity Q5). */
  const printable = quantities.filter((a) => nano(a) < 10n ** 30n && nano(a) > -(10n ** 30n));

  test('what is parsed from canonical text prints so again', () => {
    fc.assert(
      fc.property(printable, (a) => {
        const text = canonicalQuantity(a);
        expect(canonicalQuantity(quantityOf(text))).toBe(text);
        expectEqual(quantityOf(text), a);
      }),
    );
  });

  test('a remembered spelling is the text that was parsed', () => {
    fc.assert(
      fc.property(quantityTexts, (text) => {
        const { spelling } = quantityOf(text);
        expect([undefined, text]).toContain(spelling);
      }),
    );
  });

  test.each([
    ['the format of a sum is that of the left operand', addQuantities(quantityOf('1Ki'), quantityOf('1k')), '2024'],
    ['or of the right one if the left is zero', addQuantities(quantityOf('0'), quantityOf('1Ki')), '1Ki'],
    ['arithmetic forgets the spelling', addQuantities(quantityOf('0100m'), quantityOf('0')), '100m'],
    ['parsing remembers it', quantityOf('0100m'), '0100m'],
    ['an integer prints in its format', quantityFromInteger(2048, 'BinarySI'), '2Ki'],
    ['thousandths too', quantityFromMilli(2500, 'DecimalSI'), '2500m'],
    ['binary prints as decimal below 1024', quantityFromInteger(-1000, 'BinarySI'), '-1k'],
    ['above Ei the suffix is lost', addQuantities(quantityOf('1Ki'), quantityOf('1180591620717411302400')), '1'],
  ])('%s', (_, quantity, text) => {
    expect(formatQuantity(quantity)).toBe(text);
  });
});

describe('whole numbers', () => {
  test.each([
    ['0', 0n, 0n],
    ['1m', 1n, 1n],
    ['-1m', -1n, -1n],
    ['1500m', 2n, 1500n],
    ['-1500m', -2n, -1500n],
    ['1n', 1n, 1n],
    ['2Gi', 2147483648n, 2147483648000n],
    ['1e30', 10n ** 30n, 10n ** 33n],
    ['-12345678901234567890.5', -12345678901234567891n, -12345678901234567890500n],
  ])('%s is rounded away from zero', (text, value, milli) => {
    const quantity = quantityOf(text);
    expect([quantityValue(quantity), quantityMilliValue(quantity)].map(BigInt)).toEqual([value, milli]);
    expect([quantityNumber(quantity), quantityMilliNumber(quantity)]).toEqual([Number(value), Number(milli)]);
  });
});

describe('absurd amounts take no time', () => {
  const huge = quantityOf('1e2147483646');

  test('they can be compared, whatever their exponents', () => {
    expect(compareQuantities(huge, quantityOf('1'))).toBe(1);
    expect(compareQuantities(quantityOf('-1e2147483646'), huge)).toBe(-1);
    expect(compareQuantities(quantityOf('-2e2147483646'), quantityOf('-1e2147483646'))).toBe(-1);
    expect(compareQuantities(quantityOf('-1e99999'), quantityOf('-1e9'))).toBe(-1);
    expect(compareQuantities(quantityOf('0'), quantityOf('-1e9'))).toBe(1);
  });

  test('a sum keeps the larger operand alone', () => {
    expect(addQuantities(huge, quantityOf('1'))).toEqual({ ...huge, spelling: undefined });
    expect(addQuantities(quantityOf('1e0'), huge)).toEqual({ ...huge, spelling: undefined });
  });

  test('they print, in binary format as decimals', () => {
    expect(canonicalQuantity(huge)).toBe('1e2147483646');
    expect(canonicalQuantity(addQuantities(quantityOf('1Ki'), huge))).toBe('1');
  });

  test('as integers they are limited to about 1,024 digits', () => {
    expect(quantityValue(huge)).toBe(10n ** 1_024n);
  });
});

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
