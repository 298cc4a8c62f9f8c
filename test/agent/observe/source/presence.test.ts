import { expect, test } from 'vitest';
import { advancePresence, presentSince } from '#agent/observe/source/source.ts';

const PATIENCE = { lostMs: 3000, foundMs: 10_000 };

/** Whether it counts as lost after each observation. */
function lostAt(looks: readonly (readonly [atMs: number, isPresent: boolean])[]): boolean[] {
  let presence = presentSince(0);
  return looks.map(([atMs, isPresent]) => (presence = advancePresence(presence, isPresent, PATIENCE, atMs)).isLost);
}

test.each<[sentence: string, looks: readonly (readonly [number, boolean])[], expected: boolean[]]>([
  [
    'what is there is not lost',
    [
      [0, true],
      [9000, true],
    ],
    [false, false],
  ],
  [
    'what is missing for long enough is lost',
    [
      [1000, false],
      [3999, false],
      [4000, false],
    ],
    [false, false, true],
  ],
  [
    'a single observation in between restarts the wait',
    [
      [1000, false],
      [3000, true],
      [4000, false],
      [6999, false],
    ],
    [false, false, false, false],
  ],
  [
    'what is there again for long enough is found',
    [
      [0, false],
      [3000, false],
      [4000, true],
      [13_999, true],
      [14_000, true],
    ],
    [false, true, true, true, false],
  ],
  [
    'what is missing again meanwhile stays lost',
    [
      [0, false],
      [3000, false],
      [4000, true],
      [5000, false],
      [14_000, true],
      [24_000, true],
    ],
    [false, true, true, true, true, false],
  ],
])('%s', (_sentence, looks, expected) => {
  expect(lostAt(looks)).toEqual(expected);
});
