import { expect, test } from 'vitest';
import { faultsOfSeeds, WILD_LAWS } from '#test/build/wild/all-laws.ts';

/** A million clusters take three hours of one processor: `PLIMSOLL_WILD_CLUSTERS=1000000`. */
const COUNT = Number(process.env['PLIMSOLL_WILD_CLUSTERS'] ?? '20000');
const FIRST = Number(process.env['PLIMSOLL_WILD_FIRST'] ?? '1000000');

test.each(Object.keys(WILD_LAWS))('many wild clusters break no law: %s', { timeout: 86_400_000 }, (law) => {
  expect(faultsOfSeeds(law, FIRST, COUNT)).toEqual([]);
});
