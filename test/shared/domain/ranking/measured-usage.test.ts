import { describe, expect, test } from 'vitest';
import type { DiskLayout, Signal } from '#shared/domain/pressure/signal.ts';
import { type FilesystemUsage, usageByUid, measuredUsage } from '#shared/domain/ranking/pod-usage.ts';
import { pod, usage } from './builders.ts';

function used(bytes: number): FilesystemUsage {
  return { usedBytes: bytes, inodesUsed: bytes * 2 };
}

const VOLUMES = [
  { name: 'scratch', emptyDir: {} },
  { name: 'in-memory', emptyDir: { medium: 'Memory' } },
  { name: 'host', hostPath: { path: '/' } },
  { name: 'config', configMap: { name: 'c' } },
  { name: 'repository', gitRepo: { repository: 'r' } },
  { name: 'secret', secret: { secretName: 's' } },
  { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
  { name: 'unmeasured', emptyDir: {} },
];
const POD = pod('p', { spec: { containers: [], volumes: VOLUMES } });
const USAGE = usage({
  memoryBytes: 7,
  processCount: 8,
  cpuNanoCores: 9,
  ioBytesPerSecond: 10,
  containers: [
    { name: 'a', workingSetBytes: 99, rootfs: used(1), logs: used(10) },
    { name: 'b', workingSetBytes: undefined, rootfs: used(2), logs: { usedBytes: undefined, inodesUsed: undefined } },
  ],
  volumes: [
    { name: 'scratch', ...used(100) },
    { name: 'scratch', ...used(77) },
    ...['in-memory', 'secret', 'claim', 'gone'].map((name) => ({ name, ...used(1_000_000) })),
    ...['host', 'config', 'repository'].map((name) => ({ name, ...used(1_000) })),
  ],
});

describe('measuredUsage', () => {
  test.each<[Signal, number]>([
    ['memory.available', 7],
    ['allocatableMemory.available', 7],
    ['memory.pressure', 7],
    ['pid.available', 8],
    ['cpu.available', 9],
    ['cpu.pressure', 9],
    ['io.pressure', 10],
  ])('of %s it is the pod’s own figure', (signal, amount) => {
    expect(measuredUsage(signal, 'single', POD, USAGE)).toBe(amount);
    expect(measuredUsage(signal, 'single', POD, usage())).toBe(0);
  });

  const [layers, logs, volumes] = [3, 10, 3_100];
  test.each<[Signal, DiskLayout, number]>([
    ['nodefs.available', 'single', layers + logs + volumes],
    ['imagefs.available', 'single', layers + logs + volumes],
    ['containerfs.available', 'single', layers + logs + volumes],
    ['nodefs.inodesFree', 'imagesAndLayersApart', 2 * (logs + volumes)],
    ['imagefs.inodesFree', 'imagesAndLayersApart', 2 * layers],
    ['containerfs.inodesFree', 'imagesAndLayersApart', 2 * layers],
    ['nodefs.available', 'imagesApart', layers + logs + volumes],
    ['imagefs.available', 'imagesApart', 0],
    ['containerfs.available', 'imagesApart', layers + logs + volumes],
  ])('%s counts what lies on that filesystem where the layout is %s', (signal, layout, amount) => {
    expect(measuredUsage(signal, layout, POD, USAGE)).toBe(amount);
  });
});

describe('usageByUid', () => {
  test('of several statistics for one pod the last counts', () => {
    const first = usage({ uid: 'a', processCount: 1 });
    const last = usage({ uid: 'a', processCount: 2 });
    expect(usageByUid([first, last])).toEqual(new Map([['a', last]]));
  });
});
