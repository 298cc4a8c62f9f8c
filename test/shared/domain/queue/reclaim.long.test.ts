import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { orderFinding, orderScenarios } from './reclaim-order.ts';
import { QueueModel } from './queue-model.ts';

const SCENARIOS_PER_SEED = 125_000;
const SEEDS = [11, 12, 13, 14, 15, 16, 17, 18];

describe('a million scenarios about originators, delay, preferNear, DaemonSets and the order', () => {
  test.each(SEEDS)('of seed %i: of all smallest sets the one that goes first', (seed) => {
    fc.assert(
      fc.property(orderScenarios, (drawn) => orderFinding(drawn) === undefined),
      { numRuns: SCENARIOS_PER_SEED, seed },
    );
  });
});

describe('queues over many steps', () => {
  test.each([21, 22, 23, 24, 25, 26, 27, 28])(
    'seed %i: no loop, no queue below its guarantee, room in time',
    (seed) => {
      const model = new QueueModel(seed);
      for (let step = 0; step < 10_000; step += 1) model.step();
      expect(model.findings).toMatchObject({ broughtBelow: 0, waitedTooLong: 0, loops: 0 });
    },
  );
});
