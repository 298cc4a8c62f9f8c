import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';

const BINARY = /[KMGTPE]i$/;
const UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const STEP = 1024;
/** Longer numbers are read better in the next unit. */
const MAX_AMOUNT = 100_000;
/** As in `16,384` and `19.6`. */
const WHOLE = new Intl.NumberFormat('en-GB', {
  maximumSignificantDigits: 5,
  maximumFractionDigits: 1,
  roundingPriority: 'lessPrecision',
});

/**
 * Amounts of one kind as people compare them: bytes in one binary unit, cores without thousandths. Anything else stays as
 * it is.
 */
export function inOneUnit<T extends string | undefined>(texts: readonly T[]): readonly T[] {
  const amounts = texts.map((text) => (text === undefined ? undefined : milliOf(text)));
  if (texts.some((text, index) => text !== undefined && amounts[index] === undefined)) return texts;
  const known = amounts.filter((amount) => amount !== undefined);
  if (texts.some((text) => text !== undefined && BINARY.test(text)))
    return asTexts(texts, amounts, bytesIn(unitFor(known.map((amount) => Math.abs(amount) / 1000))));
  if (texts.some((text) => text?.endsWith('m') === true))
    return asTexts(texts, amounts, (amount) => rounded(amount / 1000, 3));
  return texts;
}

function milliOf(text: string): number | undefined {
  const parsed = parseQuantity(text);
  return parsed.ok ? quantityMilliNumber(parsed.quantity) : undefined;
}

function asTexts<T extends string | undefined>(
  texts: readonly T[],
  amounts: readonly (number | undefined)[],
  write: (amount: number) => string,
): readonly T[] {
  return texts.map((text, index) => {
    const amount = amounts[index];
    return (amount === undefined ? text : write(amount)) as T;
  });
}

/** The largest unit in which the smallest amount is at least 1, unless the largest one then has too many digits. */
function unitFor(bytes: readonly number[]): number {
  const positive = bytes.filter((each) => each > 0);
  const most = UNITS.findLastIndex((_, index) => Math.min(...positive) / STEP ** (index + 1) >= 1);
  const readable = UNITS.findIndex((_, index) => Math.max(...positive) / STEP ** (index + 1) < MAX_AMOUNT);
  return positive.length === 0 ? 0 : Math.max(0, most, readable);
}

function bytesIn(unit: number): (milli: number) => string {
  return (milli) => {
    const amount = milli / 1000 / STEP ** (unit + 1);
    if (amount === 0) return '0';
    return `${Math.abs(amount) < 1 ? Number(amount.toPrecision(2)) : WHOLE.format(amount)}${UNITS[unit] ?? ''}`;
  };
}

function rounded(amount: number, digits: number): string {
  return String(Number(amount.toFixed(digits)));
}
