import { parseQuantity } from '#shared/domain/model/parse-quantity.ts';
import { quantityMilliNumber } from '#shared/domain/model/quantity.ts';

const STEP = 1024;
const UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
/** From here on fractions tell nobody anything. */
const LARGE = 100;

/** A quantity with a binary suffix in the largest unit that leaves at least 1, such as `19.6Gi`; any other text stays as it is. */
export function readableAmount(text: string): string {
  const parsed = /[KMGTPE]i$/.test(text) ? parseQuantity(text) : undefined;
  return parsed?.ok === true ? inUnit(quantityMilliNumber(parsed.quantity) / 1000) : text;
}

function inUnit(bytes: number): string {
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
