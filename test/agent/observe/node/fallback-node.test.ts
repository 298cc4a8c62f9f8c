import { describe, expect, test } from 'vitest';
import { NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/pod-rates.ts';
import {
  type ObservedNode,
  NO_RECLAIM_RATES,
  NO_POD_PRESSURES,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { createFallbackNode, unreadable } from '#agent/observe/node/fallback-node.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { memoryReadings, MIB } from '#test/agent/node-scene.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { DOUBTS } from '#agent/messages.ts';

/** What /proc/meminfo says where no cgroup can be read. */
const RECLAIMABLE_MIB = 650;

interface FakeNode extends NodeSource {
  availableMiB: number | undefined;
  readonly calls: string[];
}

function fakeNode(kind: NodeSource['kind'], availableMiB: number | undefined): FakeNode {
  const calls: string[] = [];
  const node: FakeNode = {
    kind,
    availableMiB,
    calls,
    readNode: (nowMs): ObservedNode => ({
      readings: memoryReadings(node.availableMiB, 1000, nowMs),
      reclaimable: NO_MEMORY_READINGS,
      stalls: [],
      cpu: undefined,
      reclaim: NO_RECLAIM_RATES,
      oomKills: kind === 'kernel' ? 3 : undefined,
    }),
    follow: (pods) => void calls.push(`follow ${pods.length}`),
    usage: () => {
      calls.push('usage');
      return new Map();
    },
    podPressures: () => NO_POD_PRESSURES,
    containers: () => [],
    whyUnmeasured: () => undefined,
    groups: () => NO_GROUPS,
    fallback: () => undefined,
    health: () => [
      {
        name: kind === 'kernel' ? 'node-memory' : 'kubelet-summary',
        state: node.availableMiB === undefined ? 'failed' : 'reading',
        because: node.availableMiB === undefined ? 'cannot read memory.stat: EIO' : undefined,
        lastReadingAtMs: undefined,
        durationMs: 0,
        failures: 0,
      },
    ],
    run: () => Promise.resolve(),
    close: () => void calls.push('close'),
  };
  return node;
}

function scene(kernel: FakeNode | undefined) {
  const summary = fakeNode('summary', 700);
  let opened = kernel;
  const source = createFallbackNode({
    openKernel: () => opened ?? unreadable('no group of all pods'),
    summary,
    reclaimable: (nowMs) => memoryReadings(RECLAIMABLE_MIB, 1000, nowMs),
    clock: manualClock(0),
  });
  const available = (atMs: number): number | undefined => {
    const bytes = source.readNode(atMs).readings.memory?.availableBytes;
    return bytes && bytes / MIB;
  };
  const reclaimable = (atMs: number): number | undefined => {
    const bytes = source.readNode(atMs).reclaimable.memory?.availableBytes;
    return bytes && bytes / MIB;
  };
  return { source, summary, available, reclaimable, appear: (node: FakeNode) => void (opened = node) };
}

describe('createFallbackNode', () => {
  test('uses the kubelet’s figures once the kernel has had none for three seconds, and reports it', () => {
    const kernel = fakeNode('kernel', 400);
    const { source, available } = scene(kernel);
    expect(available(0)).toBe(400);
    expect(source.fallback()).toBeUndefined();
    kernel.availableMiB = undefined;
    expect(available(1000)).toBeUndefined();
    expect(available(3999)).toBeUndefined();
    expect(available(4000)).toBe(700);
    expect(source.fallback()).toEqual({
      code: 'KernelUnreadable',
      text: DOUBTS.kernelUnreadable({ why: 'cannot read memory.stat: EIO' }).text,
      facts: { why: 'cannot read memory.stat: EIO' },
    });
  });

  test('keeps kernel readings other than the signals', () => {
    const kernel = fakeNode('kernel', undefined);
    const { source, available } = scene(kernel);
    available(0);
    expect(source.readNode(5000)).toMatchObject({ oomKills: 3, readings: { memory: { availableBytes: 700 * MIB } } });
  });

  test('returns to the kernel after ten seconds of readings without a break', () => {
    const kernel = fakeNode('kernel', undefined);
    const { source, available } = scene(kernel);
    for (const atMs of [0, 3000]) available(atMs);
    kernel.availableMiB = 400;
    expect(available(4000)).toBe(700);
    kernel.availableMiB = undefined;
    expect(available(13_000)).toBe(700);
    kernel.availableMiB = 400;
    expect(available(14_000)).toBe(700);
    expect(available(24_000)).toBe(400);
    expect(source.fallback()).toBeUndefined();
  });

  test('pod statistics come from the source of the signals, and each source counts in health only while it is read', () => {
    const kernel = fakeNode('kernel', 400);
    const { source, summary, available } = scene(kernel);
    available(0);
    source.usage('memory', 0);
    expect(source.health().map(({ name }) => name)).toEqual(['node-memory']);
    kernel.availableMiB = undefined;
    for (const atMs of [1000, 4000]) available(atMs);
    source.usage('memory', 0);
    expect([kernel.calls, summary.calls]).toEqual([['follow 0', 'usage'], ['usage']]);
    expect(source.health().map(({ name }) => name)).toEqual(['node-memory', 'kubelet-summary']);
  });

  test('a missing layout is searched again', () => {
    const { source, available, reclaimable, appear } = scene(undefined);
    source.follow([]);
    expect(available(0)).toBe(700);
    expect(reclaimable(0)).toBe(RECLAIMABLE_MIB);
    expect(source.fallback()?.facts).toEqual({ why: 'no group of all pods' });
    const kernel = fakeNode('kernel', 400);
    appear(kernel);
    expect(available(9000)).toBe(700);
    expect(available(10_000)).toBe(700);
    expect(available(20_000)).toBe(400);
    expect([kernel.calls, source.fallback()]).toEqual([['follow 0'], undefined]);
    source.close();
    expect(kernel.calls).toContain('close');
  });
});
