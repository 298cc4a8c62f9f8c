import { expect, test } from 'vitest';
import { compareAll, expectLaws } from './compare-all.ts';
import { runUnderFaults } from './compare.ts';

const SMALL = { nodes: 20, cpuPerNode: 16, seconds: 200, load: 1.1 } as const;

test('gangs beside single pods get nine tenths of what a perfect packer reaches, and more than by quota alone', async () => {
  const { ofPacker, ofKueue } = await compareAll([1, 2], { ...SMALL, hasExtender: true });
  expect(ofPacker).toBeGreaterThanOrEqual(0.9);
  expect(ofKueue).toBeGreaterThanOrEqual(1);
});

test('while leaders, kube-schedulers and nodes are lost, all gangs finish and none is half of one beyond the timeout', async () => {
  const done = await runUnderFaults(26, { ...SMALL, hasExtender: true });
  expectLaws(done);
  expect(done.terms).toBeGreaterThan(2);
});
