import fc from 'fast-check';
import { describe, test } from 'vitest';
import { volume } from '#test/build/volume.ts';
import { passBreaches } from './pass-laws.ts';
import { passSnapshots } from './pass-scenes.ts';

const SNAPSHOTS_PER_SEED = volume(5_000);

describe('the two stages of a pass over many snapshots', () => {
  test.each([31, 32, 33, 34])(
    'of seed %i: allocated and preempting add up to the total in each type (S4-15)',
    (seed) => {
      fc.assert(
        fc.property(passSnapshots, (snapshot) => passBreaches(snapshot).length === 0),
        { numRuns: SNAPSHOTS_PER_SEED, seed },
      );
    },
  );
});
