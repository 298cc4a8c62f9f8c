import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDecimals, compareDecimals, roundDecimal, type Decimal } from '#shared/domain/quantity/quantity.ts';
import { wholeFrom } from '#shared/domain/quantity/whole.ts';

const SEED = 20_261_122;
const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), fc.integer({ min: -40, max: 40 }))
  .map(([mantissa, exponent]): Decimal => ({ mantissa: wholeFrom(mantissa), exponent }));

/** In units of 10^-40. */
function exact({ mantissa, exponent }: Decimal): bigint {
  return BigInt(mantissa) * 10n ** BigInt(exponent + 40);
}

describe('decimals of many digits', () => {
  test('are added and compared exactly', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(exact(addDecimals(a, b))).toBe(exact(a) + exact(b));
        expect(compareDecimals(a, b)).toBe(exact(a) < exact(b) ? -1 : Number(exact(a) > exact(b)));
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  test('are rounded away from zero', () => {
    fc.assert(
      fc.property(decimal, (a) => {
        const units = exact(a);
        const one = 10n ** 40n;
        const away = units % one === 0n ? 0n : units < 0n ? -1n : 1n;
        expect(BigInt(roundDecimal(a, 0))).toBe(units / one + away);
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  test('next to a power of ten are as long as they are', () => {
    for (const digits of [15, 16, 17, 40, 300, 1_000]) {
      const power = 10n ** BigInt(digits);
      for (const mantissa of [power - 1n, power, power + 1n]) {
        expect(compareDecimals({ mantissa, exponent: 1 }, { mantissa: power, exponent: 0 })).toBe(1);
        expect(compareDecimals({ mantissa: -mantissa, exponent: 0 }, { mantissa: -power, exponent: 1 })).toBe(1);
      }
    }
  });

  test('10,000 sums of numbers as far apart as may be take no longer than a moment', () => {
    const before = process.threadCpuUsage();
    let sum: Decimal = { mantissa: 0, exponent: 0 };
    for (let count = 0; count < 10_000; count += 1) {
      sum = addDecimals(sum, count % 2 === 0 ? { mantissa: 1, exponent: 1_000 } : { mantissa: 1, exponent: 0 });
    }
    const { user, system } = process.threadCpuUsage(before);
    expect(sum).toEqual({ mantissa: 5_000n * 10n ** 1_000n + 5_000n, exponent: 0 });
    expect((user + system) / 1_000).toBeLessThan(400);
  });
});
