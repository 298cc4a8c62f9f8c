import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { withContainerFilesystem } from '#test/conformance/kubelet/container-filesystem-thresholds.ts';
import { type DiskLayout, type Observation, wholeQuantity } from '#shared/domain/pressure/signal.ts';
import { diskLayout } from '#test/conformance/kubelet/disk-layout.ts';
import { amountOf, amountToRelieve, isBelow, byUrgency, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { threshold } from './threshold-builder.ts';

const EIGHT_GI = 8 * 2 ** 30;

function observation(available: number, capacity = EIGHT_GI): Observation {
  return { available: wholeQuantity(available, 'BinarySI'), capacity: wholeQuantity(capacity, 'BinarySI'), at: 0 };
}

describe('amountOf', () => {
  test.each<[string, number, number, string]>([
    ['5 % of 8Gi, multiplied in 64 bits and cut', Math.fround(0.05), EIGHT_GI, '429496736'],
    ['a share of inodes, still with binary suffixes', 0.5, 2048, '1Ki'],
    ['what is no number, the smallest there is', NaN, EIGHT_GI, '-8Ei'],
    ['what is too large, the smallest there is', 1e30, EIGHT_GI, '-8Ei'],
  ])('%s', (_, share, capacity, text) => {
    expect(formatQuantity(amountOf({ kind: 'share', share }, observation(0, capacity)))).toBe(text);
  });
});

describe('isBelow', () => {
  const at = (available: number) => new Map([['memory.available', observation(available)] as const]);

  test('an amount below one unit is missed by nothing but 0', () => {
    const half = threshold('memory.available', '500m');
    expect([isBelow(half, at(0)), isBelow(half, at(1))]).toEqual([true, false]);
  });

  test('a share that is no number is never missed', () => {
    expect(isBelow(threshold('memory.available', NaN), at(0))).toBe(false);
  });

  test('minimum reclaim counts only where it is asked for', () => {
    const each = threshold('memory.available', '1Ki', { reclaim: 0.5 });
    expect([isBelow(each, at(1024)), isBelow(each, at(1024), 'withMinimumReclaim')]).toEqual([false, true]);
  });

  test('what was not observed is not below', () => {
    expect(isBelow(threshold('pid.available', '1k'), at(0))).toBe(false);
  });
});

describe('amountToRelieve', () => {
  test('adds the minimum reclaim to the value', () => {
    const text = (each: Threshold) => formatQuantity(amountToRelieve(each, observation(0)));
    const plain = threshold('memory.available', '1Gi');
    expect([text(plain), text(threshold('memory.available', '1Gi', { reclaim: '1Gi' }))]).toEqual(['1Gi', '2Gi']);
  });
});

describe('diskLayout', () => {
  test('who shares a filesystem with whom', () => {
    const layouts = [
      diskLayout(false, false),
      diskLayout(false, true),
      diskLayout(true, false),
      diskLayout(true, true),
    ];
    expect(layouts).toEqual(['single', 'single', 'imagesAndLayersApart', 'imagesApart']);
  });
});

describe('withContainerFilesystem', () => {
  const NODE = threshold('nodefs.available', 0.1, { reclaim: '1Gi' });
  const NODE_SOFT = threshold('nodefs.available', 0.2, { grace: 60 });
  const IMAGE_INODES = threshold('imagefs.inodesFree', 0.05);
  const CONFIGURED = threshold('containerfs.available', 0.3);

  test.each<[string, readonly Threshold[], DiskLayout, readonly Threshold[]]>([
    [
      'copies those of the node, hard from hard and soft from soft',
      [NODE, NODE_SOFT],
      'single',
      [
        NODE,
        NODE_SOFT,
        threshold('containerfs.available', 0.1, { reclaim: '1Gi' }),
        threshold('containerfs.available', 0.2, { grace: 60 }),
      ],
    ],
    [
      'copies those of the node where only images are apart',
      [NODE, IMAGE_INODES],
      'imagesApart',
      [NODE, IMAGE_INODES, threshold('containerfs.available', 0.1, { reclaim: '1Gi' })],
    ],
    [
      'copies those of the images where layers lie with them',
      [NODE, IMAGE_INODES],
      'imagesAndLayersApart',
      [NODE, IMAGE_INODES, threshold('containerfs.inodesFree', 0.05)],
    ],
    ['drops what is configured for the container filesystem itself', [CONFIGURED], 'single', []],
    [
      'drops only the last of two hard ones, as Kubernetes does',
      [CONFIGURED, threshold('containerfs.available', '1Gi')],
      'single',
      [CONFIGURED],
    ],
  ])('%s', (_, configured, layout, inForce) => {
    expect(withContainerFilesystem(configured, layout)).toEqual(inForce);
  });
});

describe('byUrgency', () => {
  const DISK = threshold('nodefs.available', 0.1);
  const DISK_SOFT = threshold('imagefs.available', 0.1, { grace: 1 });
  const MEMORY = threshold('allocatableMemory.available', '1Gi');
  const MEMORY_SOFT = threshold('memory.available', '1Gi', { grace: 1 });

  test.each<[string, readonly Threshold[], Threshold | undefined]>([
    ['has nothing of nothing', [], undefined],
    ['puts memory before disk, even if soft', [DISK, MEMORY_SOFT], MEMORY_SOFT],
    ['puts hard before soft', [MEMORY_SOFT, MEMORY], MEMORY],
    ['puts hard before soft on disk', [DISK_SOFT, DISK], DISK],
    ['keeps the order of equals', [DISK, threshold('pid.available', '1')], DISK],
  ])('%s', (_, due, chosen) => {
    expect(byUrgency(due)[0]).toEqual(chosen);
  });
});
