import { describe, expect, test } from 'vitest';
import { decodePodStats, decodeSummary } from '#shared/kube/decode/decode-summary.ts';

const TIME = '2026-01-01T00:00:01Z';
const AT = Date.UTC(2026, 0, 1, 0, 0, 1);
const NOTHING = { usedBytes: undefined, inodesUsed: undefined };

describe('decodeSummary', () => {
  test('reads the node’s side', () => {
    const disk = { time: TIME, availableBytes: 1, capacityBytes: 2, inodesFree: 3, inodes: 4 };
    const memory = { time: TIME, availableBytes: 5, workingSetBytes: 6, usageBytes: 7 };
    const node = {
      memory,
      systemContainers: [
        { name: 'kubelet', memory: { availableBytes: 99 } },
        { name: 'pods', memory },
      ],
      fs: disk,
      runtime: { imageFs: disk, containerFs: { time: null, availableBytes: 8 } },
      rlimit: { time: '0001-01-01T00:00:00Z', maxpid: 9, curproc: 10 },
    };
    const filesystem = { at: AT, availableBytes: 1, capacityBytes: 2, inodesFree: 3, inodes: 4 };
    expect(decodeSummary({ node, pods: null })).toEqual({
      ok: true,
      value: {
        readings: {
          memory: { at: AT, availableBytes: 5, workingSetBytes: 6 },
          allocatableMemory: { at: AT, availableBytes: 5, workingSetBytes: 6 },
          nodeFilesystem: filesystem,
          imageFilesystem: filesystem,
          containerFilesystem: {
            ...filesystem,
            at: undefined,
            availableBytes: 8,
            capacityBytes: undefined,
            inodesFree: undefined,
            inodes: undefined,
          },
          processes: { at: undefined, maximum: 9, running: 10 },
        },
        pods: [],
      },
    });
  });

  test('what is below 0 in unsigned numbers is no amount of memory, on the node and below the limit of all pods', () => {
    for (const availableBytes of [2 ** 64 - 1, 2 ** 64 - 4096]) {
      const memory = { time: TIME, availableBytes, workingSetBytes: 6 };
      const unknown = { at: AT, availableBytes: undefined, workingSetBytes: 6 };
      expect(decodeSummary({ node: { memory, systemContainers: [{ name: 'pods', memory }] } })).toMatchObject({
        ok: true,
        value: { readings: { memory: unknown, allocatableMemory: unknown } },
      });
    }
  });

  test.each<[string, object]>([
    ['no swap, io or stalls', {}],
    ['each of them null', { swap: null, io: null, cpu: null, network: null }],
    ['each of them empty', { swap: {}, io: {}, cpu: { psi: null }, network: {}, process_stats: {} }],
    ['fields of a newer kubelet', { numa: [{ id: 0, availableBytes: 1 }], swap: { swapUsageBytes: 2 ** 63 } }],
  ])('a node and a pod with %s have their memory', (_, fields) => {
    const memory = { time: TIME, availableBytes: 5, workingSetBytes: 6, ...fields };
    const pod = { podRef: { uid: 'u' }, memory, ...fields };
    expect(decodeSummary({ node: { memory, ...fields }, pods: [pod] })).toMatchObject({
      value: { readings: { memory: { availableBytes: 5 } }, pods: [{ uid: 'u', memory: { workingSetBytes: 6 } }] },
    });
  });

  test('leaves out what is not there', () => {
    expect(decodeSummary({})).toEqual({
      ok: true,
      value: {
        readings: {
          memory: undefined,
          allocatableMemory: undefined,
          nodeFilesystem: undefined,
          imageFilesystem: undefined,
          containerFilesystem: undefined,
          processes: undefined,
        },
        pods: [],
      },
    });
  });

  test.each<[string, unknown, string, string]>([
    ['no object', 'text', '', 'expected an object'],
    [
      'a negative amount',
      { node: { memory: { availableBytes: -1 } } },
      'node.memory.availableBytes',
      'expected at least 0, got -1',
    ],
    [
      'a fraction',
      { pods: [{ memory: { workingSetBytes: 0.5 } }] },
      'pods[0].memory.workingSetBytes',
      'expected a whole number, got 0.5',
    ],
    ['a list for an object', { node: [] }, 'node', 'expected an object, got a list'],
    [
      'no time',
      { node: { fs: { time: 'soon' } } },
      'node.fs.time',
      'expected a time such as 2026-01-31T12:00:00Z, got "soon"',
    ],
  ])('refuses %s and names the field', (_, raw, field, message) => {
    expect(decodeSummary(raw)).toEqual({ ok: false, field, message });
  });
});

describe('decodePodStats', () => {
  test('reads a pod’s figures', () => {
    const disk = { usedBytes: 1, inodesUsed: 2 };
    const stats = {
      podRef: { name: 'p', namespace: 'default', uid: 'u' },
      memory: { time: TIME, workingSetBytes: 3 },
      cpu: { usageNanoCores: 4 },
      process_stats: { process_count: 5 },
      'ephemeral-storage': { usedBytes: 6 },
      containers: [{ name: 'full', memory: { workingSetBytes: 7 }, rootfs: disk, logs: disk }, { name: 'bare' }],
      volume: [{ name: 'v', ...disk }, {}],
    };
    expect(decodePodStats(stats)).toEqual({
      ok: true,
      value: {
        uid: 'u',
        memory: { at: AT, workingSetBytes: 3 },
        cpuNanoCores: 4,
        ioBytesPerSecond: undefined,
        processCount: 5,
        ephemeralStorageBytes: 6,
        containers: [
          { name: 'full', workingSetBytes: 7, rootfs: disk, logs: disk },
          { name: 'bare', workingSetBytes: undefined, rootfs: NOTHING, logs: NOTHING },
        ],
        volumes: [
          { name: 'v', ...disk },
          { name: '', ...NOTHING },
        ],
      },
    });
  });

  test('memory without a working set is not the same as no memory', () => {
    const memories = [{ memory: {} }, {}].map((stats) => {
      const decoded = decodePodStats(stats);
      return decoded.ok && decoded.value.memory;
    });
    expect(memories).toEqual([{ at: undefined, workingSetBytes: undefined }, undefined]);
  });
});
