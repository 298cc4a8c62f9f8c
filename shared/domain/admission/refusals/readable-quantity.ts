import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { quantityValue, type Quantity } from '#shared/domain/quantity/quantity.ts';

const BINARY_UNITS = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const;
const KI = 1024n;

/** A human-readable quantity: `7.5Gi` instead of the canonical `7680Mi`; exact, with at most two decimals. */
export function readableQuantity(quantity: Quantity): string {
  const canonical = canonicalQuantity(quantity);
  if (quantity.format !== 'BinarySI' || !/i$/.test(canonical)) return canonical;
  const bytes = BigInt(quantityValue(quantity));
  for (const [index, unit] of BINARY_UNITS.entries()) {
    const size = KI ** BigInt(BINARY_UNITS.length - index);
    if (bytes >= size && (bytes * 100n) % size === 0n) return `${hundredths((bytes * 100n) / size)}${unit}`;
  }
  return canonical;
}

function hundredths(value: bigint): string {
  const decimals = String(value % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '');
  return decimals === '' ? String(value / 100n) : `${value / 100n}.${decimals}`;
}
