import { randomSource } from './random-source.ts';

const VARIABLE = 'PLIMSOLL_TEST_SEED';
const DEFAULT_SEED = 20_261_123;

/** The seed that tests draw from; throws where `PLIMSOLL_TEST_SEED` is not a 32-bit integer. */
export function testSeed(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[VARIABLE];
  if (text === undefined) return DEFAULT_SEED;
  const seed = Number(text);
  if (text.trim() !== '' && Number.isInteger(seed) && Math.abs(seed) < 2 ** 31) return seed;
  throw new Error(`cannot use ${VARIABLE} "${text}": expected a 32-bit integer`);
}

const SEED = testSeed(process.env);
let streams = 0;

/**
 * A stream of its own in [0, 1) for each caller, decided by the seed and by how many there were before: for what no test
 * asserts, such as jitter of retries and pauses.
 */
export function seededJitter(): () => number {
  const { next } = randomSource(SEED + streams);
  streams += 1;
  return next;
}

/** How to have the streams of this test file again; `undefined` where there were none. */
export function jitterSeed(): string | undefined {
  return streams === 0 ? undefined : `${VARIABLE}=${SEED}`;
}
