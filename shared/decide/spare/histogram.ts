import type { Instant } from '#shared/domain/pod/pod.ts';

/**
 * How often each share of a node was reached, in 128 steps of the whole. Older cases count for less; shares above the
 * whole count as the whole.
 */
export interface Histogram {
  readonly weights: readonly number[];
  /** Of the last case. */
  readonly at: Instant;
}

const STEPS = 128;
/** After so many half-lives a case is forgotten. */
const LEAST_WEIGHT = 0.5 ** 7;

export function emptyHistogram(at: Instant): Histogram {
  return { weights: Array.from({ length: STEPS }, () => 0), at };
}

/** The histogram with one more case. */
export function withCase({ weights, at }: Histogram, share: number, now: Instant, halfLifeMs: number): Histogram {
  const kept = 0.5 ** (Math.max(0, now - at) / halfLifeMs);
  const step = Math.min(STEPS - 1, Math.max(0, Math.ceil(share * STEPS) - 1));
  const aged = weights.map((weight) => (weight * kept < LEAST_WEIGHT ? 0 : weight * kept));
  return { weights: aged.with(step, (aged[step] ?? 0) + 1), at: now };
}

/** The share that was not exceeded in so many of a hundred cases; 0 without a case, or with none above the first step. */
export function percentileOf({ weights }: Histogram, percent: number): number {
  let left = (totalOf(weights) * percent) / 100;
  const found = weights.findIndex((weight) => {
    left -= weight;
    return weight > 0 && left <= ROUNDING;
  });
  const step = found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
  return step <= 0 ? 0 : (step + 1) / STEPS;
}

/** Of a hundred cases, in how many the share was exceeded. */
export function percentAbove({ weights }: Histogram, share: number): number {
  const total = totalOf(weights);
  const above = totalOf(weights.filter((_, step) => (step + 1) / STEPS > share + ROUNDING));
  return total === 0 ? 0 : (100 * above) / total;
}

const ROUNDING = 1e-9;

function totalOf(weights: readonly number[]): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';
/** Four digits a halving: the rarest case of a week is kept, each weight to a tenth. */
const PER_HALVING = 4;

/** Text of one character a step, and the largest weight. */
export function encodeHistogram({ weights }: Histogram): string {
  const most = Math.max(...weights);
  const steps = weights.map((weight) => DIGITS.charAt(weight > 0 ? digitOf(weight / most) : 0));
  return `${steps.join('')}${most.toFixed(2)}`;
}

function digitOf(share: number): number {
  return Math.max(1, DIGITS.length - 1 + Math.round(PER_HALVING * Math.log2(share)));
}

/** What `encodeHistogram` wrote, as of `at`; `undefined` for any other text. */
export function decodeHistogram(text: string, at: Instant): Histogram | undefined {
  const most = Number(text.slice(STEPS));
  const digits = Array.from(text.slice(0, STEPS), (digit) => DIGITS.indexOf(digit));
  if (digits.length !== STEPS || digits.includes(-1) || !(most >= 0 && most < MAX_WEIGHT)) return undefined;
  const weightOf = (digit: number): number => most * 2 ** ((digit - DIGITS.length + 1) / PER_HALVING);
  return { weights: digits.map((digit) => (digit === 0 ? 0 : weightOf(digit))), at };
}

/** Above what a case every second for a week of half-lives adds up to. */
const MAX_WEIGHT = 1e7;
