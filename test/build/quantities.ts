import fc from 'fast-check';
import type { Amounts, Quantity } from '#shared/domain/quantity/quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';

/** The quantity of a text that is one; a test with any other is wrong itself. */
export function quantityOf(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new Error(`the test asks for quantity "${text}", which has error "${parsed.error}"`);
  return parsed.quantity;
}

/** Amounts from texts. */
export function amountsFrom(texts: Readonly<Record<string, string>>): Amounts {
  return new Map(Object.entries(texts).map(([name, text]) => [name, quantityOf(text)]));
}

const suffixes = [
  '',
  'n',
  'u',
  'm',
  'k',
  'M',
  'G',
  'T',
  'P',
  'E',
  'Ki',
  'Mi',
  'Gi',
  'Ti',
  'Pi',
  'Ei',
  'e3',
  'e-6',
  'E12',
  'e30',
];

/** Texts of quantities in every format, small and large, signed, with fractions and needless zeros. */
export const quantityTexts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.oneof(
      fc.nat(3000).map(String),
      fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String),
      fc.constantFrom('0', '007', '1000'),
    ),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,12}$/)),
    fc.constantFrom(...suffixes),
  )
  .map((parts) => parts.join(''));

export const quantities: fc.Arbitrary<Quantity> = quantityTexts.map(quantityOf);
