import { expect } from 'vitest';
import { TIMEOUT_MS } from '#test/scheduler/queues/gang-loop.ts';
import { type ComparedWork, compareThroughput, type OurDone } from './compare.ts';

/** What must hold of each run. */
export function expectLaws({ broken, unfinished, longestPart }: OurDone): void {
  expect([broken, unfinished]).toEqual([[], []]);
  // The pods of a gang that goes back end one after the other.
  expect(longestPart).toBeLessThan(TIMEOUT_MS / 1_000 + 10);
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
