import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityOf } from '#test/build/quantities.ts';

describe('parseQuantity', () => {
  test.each([
    ['digits are optional', '-.', '0'],
    ['a suffix alone is zero', 'Ki', '0'],
    ['a point needs no digits after it', '1.Ki', '1Ki'],
    ['E without digits is 10^18', '1E', '1E'],
    ['E with digits is an exponent', '1E3', '1e3'],
    ['exponents wrap at 32 bits', '1e4294967299', '1e3'],
    ['zeros before an exponent do not count', '1e00000000000000000003', '1e3'],
    ['no amount but zero becomes zero', '1e-300', '1e-9'],
    ['amounts with a binary suffix are capped', '8Ei', '9223372036854775807'],
    ['downwards too', '-9Ei', '-9223372036854775807'],
    ['just below one, rounded up to it, stays binary', '0.00097656249999999999Ki', '1'],
    ['nine decimals are kept, rounded away from zero', '-0.0000000011', '-2n'],
  ])('%s: %s', (_, text, canonical) => {
    expect(canonicalQuantity(quantityOf(text))).toBe(canonical);
  });

  test.each([
    ['nothing', '', 'format'],
    ['white space', ' 1', 'format'],
    ['two points', '1..2', 'format'],
    ['digits of other scripts', '１', 'format'],
    ['a letter of no suffix', '1x', 'format'],
    ['an unknown suffix', '1K', 'suffix'],
    ['a suffix in the wrong case', '1mi', 'suffix'],
    ['an exponent without digits', '1e', 'suffix'],
    ['an exponent with only a sign', '1e+', 'suffix'],
    ['two exponents', '1ee3', 'suffix'],
    ['an exponent beyond 64 bits', '1e9223372036854775808', 'suffix'],
    ['a large binary suffix alone', 'Pi', 'numeric'],
  ])('%s is refused', (_, text, error) => {
    expect(parseQuantity(text)).toEqual({ ok: false, error });
  });

  test('more than 128 digits are read as 10^128, more decimals are rounded up like any', () => {
    expect(quantityOf('9'.repeat(128))).toMatchObject({ mantissa: 10n ** 128n - 1n, exponent: 0 });
    expect(quantityOf('9'.repeat(129))).toMatchObject({ mantissa: 1, exponent: 128 });
    expect(quantityOf(`-${'9'.repeat(3_000_000)}`)).toMatchObject({ mantissa: -1, exponent: 128 });
    expect(canonicalQuantity(quantityOf(`0.${'0'.repeat(5_000)}1`))).toBe('1n');
    expect(canonicalQuantity(quantityOf(`${'9'.repeat(5_000)}Ki`))).toBe('9223372036854775807');
    expect(parseQuantity(`${'9'.repeat(5_000)}x`)).toEqual({ ok: false, error: 'format' });
  });

  test('no text makes it throw, and what it reads can be printed', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTP'.split('')) }),
      fc.tuple(fc.nat(9), fc.constantFrom('e', 'E'), fc.bigInt()).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseQuantity(text);
        expect(parsed.ok ? typeof canonicalQuantity(parsed.quantity) : parsed.error).toMatch(
          /^(string|format|suffix|numeric)$/,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
