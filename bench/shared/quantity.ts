/** How many quantities a second are parsed, printed, compared and added, on one core. JSON on stdout, in millions. */
import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { addQuantities, compareQuantities } from '#shared/domain/quantity/quantity.ts';
import { median } from './support/quantile.ts';

const COMMON = ['100m', '250m', '500m', '1', '2', '1500m', '64Mi', '128Mi', '512Mi', '1Gi', '2Gi', '16Gi', '0', '1G'];
const LONG = ['123456789012345678901234567890', '1.1Mi', '8Ei', '0.123456789012345678', '9223372036854775807', '1e30'];
const GOAL = { parseCommon: 2 };
const BATCH = 100_000;
const ROUNDS = 21;

function parsed(texts: readonly string[]): readonly Quantity[] {
  return texts.flatMap((text) => {
    const result = parseQuantity(text);
    return result.ok ? [result.quantity] : [];
  });
}

/** Median of several rounds, in millions of calls a second. */
function rate(call: (index: number) => unknown): number {
  const seconds: number[] = [];
  let kept: unknown;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    for (let index = 0; index < BATCH; index += 1) kept = call(index);
    seconds.push((performance.now() - start) / 1000);
  }
  if (kept === undefined) throw new Error('the benchmark computed nothing');
  return Math.round(BATCH / median(seconds) / 10_000) / 100;
}

function parseAll(texts: readonly string[]): number {
  return rate((index) => parseQuantity(texts[index % texts.length] ?? ''));
}

const quantities = parsed(COMMON);
const pair = (index: number) =>
  [quantities[index % 14] as Quantity, quantities[(index * 5 + 3) % 14] as Quantity] as const;

const millionsPerSecond = {
  parseCommon: parseAll(COMMON),
  parseLong: parseAll(LONG),
  print: rate((index) => canonicalQuantity(pair(index)[0])),
  compare: rate((index) => compareQuantities(...pair(index))),
  add: rate((index) => addQuantities(...pair(index))),
};
const isMet = millionsPerSecond.parseCommon >= GOAL.parseCommon;
process.stdout.write(`${JSON.stringify({ bench: 'quantity', millionsPerSecond, goal: GOAL, isMet }, null, 2)}\n`);
