import type { CgroupLayout } from './cgroup-layout.ts';
import { cpuCgroupSource, type CgroupCpu } from './cpu-cgroup.ts';
import { ioCgroupSource, type CgroupIo } from './io-cgroup.ts';
import { memoryEventsSource, type MemoryEvents } from './memory-events.ts';
import { pidsCgroupSource, type CgroupPids } from './pids-cgroup.ts';
import type { Reading, Source } from '#agent/observe/source/reading.ts';
import { stallSource, type Stalls } from '#agent/observe/kernel/stall.ts';

/** Everything about a cgroup except its memory usage; read at the slow interval. */
export interface CgroupDetails {
  readonly events: Reading<MemoryEvents>;
  readonly cpu: Reading<CgroupCpu>;
  readonly pids: Reading<CgroupPids>;
  readonly io: Reading<CgroupIo>;
  readonly memoryStalls: Reading<Stalls>;
  readonly cpuStalls: Reading<Stalls>;
  readonly ioStalls: Reading<Stalls>;
}

export type DetailSources = {
  readonly [K in keyof CgroupDetails]: CgroupDetails[K] extends Reading<infer T> ? Source<T> : never;
};

/** Opens the files of the cgroup at `path` below each root. */
export function openDetails(layout: CgroupLayout, path: string): DetailSources {
  const pressure = `${layout.pressure ?? ''}/${path}`;
  return {
    events: memoryEventsSource(layout, path),
    cpu: cpuCgroupSource(layout, path),
    pids: pidsCgroupSource(layout, path),
    io: ioCgroupSource(layout, path),
    memoryStalls: stallSource('pod-memory-stalls', pressure, 'memory.pressure'),
    cpuStalls: stallSource('pod-cpu-stalls', pressure, 'cpu.pressure'),
    ioStalls: stallSource('pod-io-stalls', pressure, 'io.pressure'),
  };
}

export function readDetails(sources: DetailSources): CgroupDetails {
  return {
    events: sources.events.read(),
    cpu: sources.cpu.read(),
    pids: sources.pids.read(),
    io: sources.io.read(),
    memoryStalls: sources.memoryStalls.read(),
    cpuStalls: sources.cpuStalls.read(),
    ioStalls: sources.ioStalls.read(),
  };
}

export function closeDetails({ events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls }: DetailSources): void {
  for (const source of [events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls]) source.close();
}
