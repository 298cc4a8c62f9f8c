import { describe, expect, test } from 'vitest';
import { compareAll, expectLaws } from './compare-all.ts';
import { runUnderFaults } from './compare.ts';

const FIRST_SEED = Number(process.env['PLIMSOLL_TEST_SEED'] ?? 1);
const seeds = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => FIRST_SEED + index);
const LARGE = { cpuPerNode: 16, load: 1.1 } as const;

describe('gangs beside single pods', () => {
  test.each([
    { nodes: 20, seconds: 1_200, count: 6 },
    { nodes: 50, seconds: 1_200, count: 3 },
  ])(
    'on $nodes nodes get nine tenths of what a perfect packer reaches, and more than by quota alone',
    { timeout: 600_000 },
    async ({ count, ...settings }) => {
      const { ofPacker, ofKueue } = await compareAll(seeds(count), { ...LARGE, ...settings, hasExtender: true });
      expect(ofPacker).toBeGreaterThanOrEqual(0.9);
      expect(ofKueue).toBeGreaterThanOrEqual(1);
    },
  );

  test.each(seeds(20).flatMap((seed) => [true, false].map((hasExtender) => ({ seed, hasExtender }))))(
    'all finish while leaders, kube-schedulers and nodes are lost (seed $seed, extender $hasExtender)',
    { timeout: 120_000 },
    async ({ seed, hasExtender }) => {
      expectLaws(await runUnderFaults(seed, { ...LARGE, nodes: 20, seconds: 600, hasExtender }));
    },
  );
});
