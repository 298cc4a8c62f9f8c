import { describe, expect, test } from 'vitest';
import { QueueModel } from './queue-model.ts';

/** 10,000 steps in all. */
const SEEDS = [1, 2, 3, 4, 8];
const STEPS = 2_000;

describe('queues in a cluster where pods come, end and are made again', () => {
  test.each(SEEDS)('seed %i: no loop, no queue taken below its guarantee, and room in time', (seed) => {
    const model = new QueueModel(seed);
    for (let step = 0; step < STEPS; step += 1) model.step();
    const { findings } = model;
    expect(findings).toMatchObject({ broughtBelow: 0, waitedTooLong: 0, loops: 0 });
    expect(findings.ended).toBeGreaterThan(100);
    expect(findings.reclaimed).toBeGreaterThan(0);
    const before = findings.reclaimed;
    model.settle(100);
    const settled = findings.reclaimed;
    model.settle(500);
    expect(findings.reclaimed, `reclaimed ${before} while pods came`).toBe(settled);
  });
});
