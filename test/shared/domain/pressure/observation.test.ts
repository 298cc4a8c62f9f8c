import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  type FilesystemReading,
  type MemoryReading,
  type NodeReadings,
  observe,
  wholeQuantity,
} from '#shared/domain/pressure/signal.ts';

const NOTHING: NodeReadings = {
  memory: undefined,
  allocatableMemory: undefined,
  nodeFilesystem: undefined,
  imageFilesystem: undefined,
  containerFilesystem: undefined,
  processes: undefined,
};
const MEMORY: MemoryReading = { at: 1, availableBytes: 1024, workingSetBytes: 3072 };
const DISK: FilesystemReading = { at: 2, availableBytes: 2048, capacityBytes: 8192, inodesFree: 3000, inodes: 5000 };

function texts(readings: Partial<NodeReadings>): readonly (readonly [string, string, string, number | undefined])[] {
  const observations = observe({ ...NOTHING, ...readings });
  return Array.from(observations, ([signal, { available, capacity, at }]) => [
    signal,
    formatQuantity(available),
    formatQuantity(capacity),
    at,
  ]);
}

describe('observe', () => {
  test('makes every signal from full readings, memory and disk in binary, inodes and processes in decimal units', () => {
    const readings: NodeReadings = {
      memory: MEMORY,
      allocatableMemory: { ...MEMORY, at: undefined },
      nodeFilesystem: DISK,
      imageFilesystem: DISK,
      containerFilesystem: DISK,
      processes: { at: 3, maximum: 32_000, running: 2_000 },
    };
    expect(texts(readings)).toEqual([
      ['memory.available', '1Ki', '4Ki', 1],
      ['allocatableMemory.available', '1Ki', '4Ki', undefined],
      ['nodefs.available', '2Ki', '8Ki', 2],
      ['nodefs.inodesFree', '3k', '5k', 2],
      ['imagefs.available', '2Ki', '8Ki', 2],
      ['imagefs.inodesFree', '3k', '5k', 2],
      ['containerfs.available', '2Ki', '8Ki', 2],
      ['containerfs.inodesFree', '3k', '5k', 2],
      ['pid.available', '30k', '32k', 3],
    ]);
  });

  test.each<[string, Partial<NodeReadings>]>([
    ['nothing at all', {}],
    ['memory without a working set', { memory: { ...MEMORY, workingSetBytes: undefined } }],
    ['memory without what is left', { memory: { ...MEMORY, availableBytes: undefined } }],
    ['memory that is no number', { memory: { ...MEMORY, availableBytes: NaN } }],
    ['memory of infinite capacity', { memory: { ...MEMORY, workingSetBytes: Infinity } }],
    ['disk without totals', { nodeFilesystem: { ...DISK, capacityBytes: undefined, inodes: undefined } }],
    ['disk without what is left', { nodeFilesystem: { ...DISK, availableBytes: undefined, inodesFree: undefined } }],
    ['processes without a maximum', { processes: { at: 0, maximum: undefined, running: 1 } }],
    ['processes without a count', { processes: { at: 0, maximum: 1, running: undefined } }],
  ])('makes nothing of %s', (_, readings) => {
    expect(texts(readings)).toEqual([]);
  });

  test('more processes than allowed leave less than nothing', () => {
    expect(texts({ processes: { at: 0, maximum: 1, running: 3 } })).toEqual([['pid.available', '-2', '1', 0]]);
  });
});

describe('wholeQuantity', () => {
  test.each<[number, string]>([
    [-0, '0'],
    [1.9, '1'],
    [-1.1, '-2'],
    [2 ** 60, '1Ei'],
    [NaN, '0'],
    [-Infinity, '0'],
  ])('writes %d as %s', (value, text) => {
    expect(formatQuantity(wholeQuantity(value, 'BinarySI'))).toBe(text);
  });
});
