import { expect } from 'vitest';
import { TIMEOUT_MS } from '#test/scheduler/queues/gang-loop.ts';
import { type ComparedWork, compareThroughput, type OurDone } from './compare.ts';

const IN_PART_SECONDS = TIMEOUT_MS / 1_000;

/** What must hold of each run, also while leaders end and answers are lost. */
export function expectLaws({ broken, unfinished, longestPart }: OurDone): void {
  expect([broken, unfinished]).toEqual([[], []]);
  expect(longestPart).toBeLessThanOrEqual(IN_PART_SECONDS);
}

/** What gangs did by our queues, of what they do by the others, in all seeds together. */
export async function compareAll(seeds: readonly number[], settings: ComparedWork) {
  const sums = { ours: 0, packer: 0, kueue: 0 };
  for (const seed of seeds) {
    const { ours, packer, kueue } = await compareThroughput(seed, settings);
    expectLaws(ours);
    sums.ours += ours.gangs;
    sums.packer += packer.gangs;
    sums.kueue += kueue.gangs;
  }
  return { ofPacker: sums.ours / sums.packer, ofKueue: sums.ours / sums.kueue };
}
