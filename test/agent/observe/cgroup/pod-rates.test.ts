import { describe, expect, test } from 'vitest';
import { nextSample } from '#agent/observe/cgroup/pod-rates.ts';
import type { CgroupDetails } from '#agent/observe/cgroup/cgroup-details.ts';
import { absent, reading } from '#agent/observe/source/source.ts';

const stalls = (some: number, full: number) => reading({ someMicroseconds: some, fullMicroseconds: full });
const gone = absent('gone');

function details(changes: Partial<CgroupDetails> = {}): CgroupDetails {
  const nothing = { events: gone, cpu: gone, pids: gone, io: gone };
  return { ...nothing, memoryStalls: gone, cpuStalls: gone, ioStalls: gone, ...changes };
}

function ratesOf(before: CgroupDetails, after: CgroupDetails, elapsedMs = 10_000) {
  return nextSample(nextSample(undefined, before, 0), after, elapsedMs).rates;
}

describe('nextSample', () => {
  test('turns the counters of two samples into rates and shares of time', () => {
    const before = details({
      events: reading({ limitHits: 5, oomKills: 0 }),
      cpu: reading({ usageSeconds: 1, throttledSeconds: 0 }),
      io: reading({ readBytes: 0, writtenBytes: 0 }),
      memoryStalls: stalls(0, 0),
      cpuStalls: stalls(0, 0),
    });
    const after = details({
      events: reading({ limitHits: 105, oomKills: 2 }),
      cpu: reading({ usageSeconds: 6, throttledSeconds: 4 }),
      io: reading({ readBytes: 5000, writtenBytes: 5000 }),
      pids: reading({ tasks: 3 }),
      memoryStalls: stalls(5_000_000, 1_000_000),
      cpuStalls: stalls(20_000_000, 0),
    });
    expect(ratesOf(before, after)).toEqual({
      processCount: 3,
      cpuNanoCores: 500_000_000,
      ioBytesPerSecond: 1000,
      podPressure: {
        waiting: { memory: 0.5, cpu: 1 },
        stalled: { memory: 0.1, cpu: 0 },
        limitHits: 105,
        limitHitsPerSecond: 10,
        oomKills: 2,
        throttled: 0.4,
      },
    });
  });

  test('a single sample has counts but no rates', () => {
    const only = details({ events: reading({ limitHits: 5, oomKills: 0 }), memoryStalls: stalls(7, 7) });
    expect(nextSample(undefined, only, 0).rates).toEqual({
      processCount: undefined,
      cpuNanoCores: undefined,
      ioBytesPerSecond: undefined,
      podPressure: { waiting: {}, stalled: {}, limitHits: 5, oomKills: 0 },
    });
  });

  test('a counter that went backwards, was not there or is unknown has no rate', () => {
    const before = details({ events: reading({ limitHits: 9, oomKills: 0 }), memoryStalls: stalls(9, 9) });
    const after = details({
      events: reading({ limitHits: Number.NaN, oomKills: Number.NaN }),
      memoryStalls: stalls(1, 1),
      ioStalls: stalls(5, 5),
    });
    expect(ratesOf(before, after).podPressure).toEqual({ waiting: {}, stalled: {} });
  });
});
