import { expect, test } from 'vitest';
import { volume } from '#test/build/volume.ts';
import { faultsOfSeeds, WILD_LAWS } from '#test/build/wild/all-laws.ts';

test.each(Object.keys(WILD_LAWS))('wild clusters break no law: %s', (law) => {
  expect(faultsOfSeeds(law, 1, volume(800))).toEqual([]);
});
