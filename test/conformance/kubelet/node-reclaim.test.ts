import { describe, expect, test } from 'vitest';
import { type NodeReclaim, nodeReclaimFor } from './node-reclaim.ts';
import type { DiskLayout, Signal } from '#shared/domain/pressure/signal.ts';

describe('nodeReclaimFor', () => {
  test.each<[Signal, DiskLayout, readonly NodeReclaim[]]>([
    ['memory.available', 'single', []],
    ['pid.available', 'single', []],
    ['nodefs.available', 'single', ['containers', 'images']],
    ['imagefs.inodesFree', 'single', ['containers', 'images']],
    ['nodefs.available', 'imagesAndLayersApart', []],
    ['imagefs.available', 'imagesAndLayersApart', ['containers', 'images']],
    ['containerfs.inodesFree', 'imagesAndLayersApart', ['containers', 'images']],
    ['nodefs.inodesFree', 'imagesApart', ['containers']],
    ['imagefs.available', 'imagesApart', ['images']],
    ['containerfs.available', 'imagesApart', ['containers']],
  ])('%s where the layout is %s', (signal, layout, steps) => {
    expect(nodeReclaimFor(signal, layout)).toEqual(steps);
  });
});
