import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { guardedCache, reclaimableInGroup, reclaimableOnNode } from '#shared/domain/pressure/memory-figure.ts';

/**
 * Measured in a guest of 1 GiB (Linux 6.1, cgroup v2): what /proc/meminfo said just before a process took memory until
 * the kernel killed it, and how much it got; all in MiB. The kernel's reserve makes the difference of some 40.
 */
const MEASURED: readonly (readonly [name: string, available: number, file: number, dirty: number, got: number])[] = [
  ['nothing but free pages', 865, 1, 0, 896],
  ['active page cache', 819, 402, 0, 895],
  ['locked pages of a file', 472, 1, 0, 494],
  ['huge pages', 556, 1, 0, 595],
  ['tmpfs', 550, 1, 0, 595],
  ['slab of 60,000 files', 823, 17, 1, 895],
  ['page cache below memory.low', 803, 402, 0, 895],
];
const SLACK_MIB = 100;

describe('reclaimableOnNode', () => {
  test.each(MEASURED)('%s: no more than a process really got', (_name, available, file, dirty, got) => {
    const node = { totalBytes: 1004, availableBytes: available, fileBytes: file, unwrittenBytes: dirty };
    expect(reclaimableOnNode(node)).toBeLessThanOrEqual(got);
    expect(reclaimableOnNode(node)).toBeGreaterThan(got - SLACK_MIB);
  });

  test('page cache below memory.min is not to be had: MemAvailable said 799, a process got 595', () => {
    const node = { totalBytes: 1004, availableBytes: 799, fileBytes: 402, unwrittenBytes: 0 };
    const guarded = guardedCache([{ usageBytes: 402, fileBytes: 402, minBytes: 300 }]);
    expect(reclaimableOnNode(node)).toBeGreaterThan(595);
    expect(reclaimableOnNode(node, guarded)).toBe(499);
  });

  test('dirty pages are to be had at the pace of the disk, so not at once', () => {
    const node = { totalBytes: 1004, availableBytes: 802, fileBytes: 464, unwrittenBytes: 242 + 120 };
    expect(reclaimableOnNode(node)).toBe(440);
  });

  test('what is held back is page cache, never free pages', () => {
    const node = { totalBytes: 1000, availableBytes: 500, fileBytes: 30, unwrittenBytes: 20 };
    expect(reclaimableOnNode(node, 400)).toBe(470);
  });
});

describe('guardedCache', () => {
  test.each<[sentence: string, usageBytes: number, fileBytes: number, minBytes: number, expected: number]>([
    ['a group without a guard keeps nothing', 500, 400, 0, 0],
    ['a guard above what is used keeps all', 500, 400, 600, 400],
    ['a guard that other memory fills keeps none', 1000, 400, 600, 0],
    ['a guard keeps what it reaches', 1000, 900, 300, 200],
    ['memory.min max', 500, 400, Number.POSITIVE_INFINITY, 400],
  ])('%s', (_sentence, usageBytes, fileBytes, minBytes, expected) => {
    expect(guardedCache([{ usageBytes, fileBytes, minBytes }])).toBe(expected);
  });
});

describe('reclaimableInGroup', () => {
  const group = {
    limitBytes: 1000,
    usageBytes: 900,
    fileBytes: 500,
    unwrittenBytes: 0,
    reclaimableSlabBytes: 0,
    workingSetBytes: 0,
  };

  test.each<[sentence: string, changes: Partial<typeof group>, guardedBytes: number, expected: number]>([
    ['page cache is to be had, active or not', {}, 0, 600],
    ['reclaimable slab is to be had', { reclaimableSlabBytes: 50 }, 0, 650],
    ['what must be written first is not', { unwrittenBytes: 100 }, 0, 500],
    ['nor what groups inside guard', {}, 300, 300],
    ['kernel memory and sockets count as used', { fileBytes: 0 }, 0, 100],
    ['beyond the limit nothing is left', { usageBytes: 1100, fileBytes: 0 }, 0, 0],
  ])('%s', (_sentence, changes, guardedBytes, expected) => {
    expect(reclaimableInGroup({ ...group, ...changes }, guardedBytes)).toBe(expected);
  });

  test('lies between nothing and the limit, and more held back never leaves more', () => {
    const amount = fc.integer({ min: 0, max: 2 ** 40 });
    const anyGroup = fc.record({
      limitBytes: amount,
      usageBytes: amount,
      fileBytes: amount,
      unwrittenBytes: amount,
      reclaimableSlabBytes: amount,
    });
    fc.assert(
      fc.property(anyGroup, amount, amount, (any, guarded, more) => {
        const left = reclaimableInGroup(any, guarded);
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left).toBeLessThanOrEqual(any.limitBytes);
        expect(reclaimableInGroup(any, guarded + more)).toBeLessThanOrEqual(left);
      }),
    );
  });
});
