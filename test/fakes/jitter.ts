import { randomSource } from './random-source.ts';

const GIVEN = process.env['PLIMSOLL_TEST_SEED'];
/** Of what no test asserts: jitter of retries and pauses. `PLIMSOLL_TEST_SEED` asks for another. */
const SEED = GIVEN === undefined ? 20_261_123 : Number(GIVEN);
let streams = 0;

/** A stream of its own in [0, 1) for each caller, decided by the seed and by how many there were before. */
export function seededJitter(): () => number {
  const { next } = randomSource(SEED + streams);
  streams += 1;
  return next;
}

/** How to have the streams of this test file again; `undefined` where there were none. */
export function jitterSeed(): string | undefined {
  return streams === 0 ? undefined : `PLIMSOLL_TEST_SEED=${SEED}`;
}
