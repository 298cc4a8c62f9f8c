import { parseQuantity } from './parse-quantity.ts';
import { quantityMilliNumber } from './quantity.ts';

const STEP = 1024;
const UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** From here on a fraction says nothing more. */
const LARGE = 100;

/** A quantity with a binary suffix in the largest unit that leaves at least 1, such as `19.6Gi`; any other text stays as it is. */
export function readableAmount(text: string): string {
  const parsed = /[KMGTPE]i$/.test(text) ? parseQuantity(text) : undefined;
  return parsed?.ok === true ? readableBytes(quantityMilliNumber(parsed.quantity) / 1000) : text;
}

/** Bytes in the largest unit that leaves at least 1, such as `1.2Gi`, to one decimal. */
export function readableBytes(bytes: number): string {
  if (Math.abs(bytes) < STEP) return String(Math.round(bytes));
  let amount = bytes / STEP;
  let unit = 0;
  while (Math.abs(rounded(amount)) >= STEP && unit < UNITS.length - 1) {
    amount /= STEP;
    unit += 1;
  }
  return `${rounded(amount)}${UNITS[unit] ?? ''}`;
}

function rounded(amount: number): number {
  return Math.abs(amount) >= LARGE ? Math.round(amount) : Math.round(amount * 10) / 10;
}
