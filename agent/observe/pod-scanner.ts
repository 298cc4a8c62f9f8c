import type { CgroupLayout } from './cgroup-layout.ts';
import { cpuCgroupSource, type CgroupCpu } from './cpu-cgroup.ts';
import { ioCgroupSource, type CgroupIo } from './io-cgroup.ts';
import { memoryCgroupSource, type CgroupMemory } from './memory-cgroup.ts';
import { memoryEventsSource, type MemoryEvents } from './memory-events.ts';
import { pidsCgroupSource, type CgroupPids } from './pids-cgroup.ts';
import { podCgroupPath, type PodCgroupName } from './pod-cgroup-path.ts';
import type { Reading, Source } from './reading.ts';
import { stallSource, type Stalls } from './stall.ts';

/** Everything but memory: read on the slow beat. */
export interface PodDetails {
  readonly events: Reading<MemoryEvents>;
  readonly cpu: Reading<CgroupCpu>;
  readonly pids: Reading<CgroupPids>;
  readonly io: Reading<CgroupIo>;
  readonly memoryStalls: Reading<Stalls>;
  readonly cpuStalls: Reading<Stalls>;
  readonly ioStalls: Reading<Stalls>;
}

/** Reads the cgroups of the pods it was told about; the tree itself is never walked. */
export interface PodScanner {
  /** Opens what is new and closes what is gone. */
  readonly follow: (pods: readonly PodCgroupName[]) => void;
  /** Two files per pod, so that it can run every 100 ms near a threshold. */
  readonly readMemory: (uid: string) => Reading<CgroupMemory> | undefined;
  /** One file per pod. */
  readonly readProcesses: (uid: string) => Reading<CgroupPids> | undefined;
  readonly readDetails: (uid: string) => PodDetails | undefined;
  readonly close: () => void;
}

type DetailSources = { readonly [K in keyof PodDetails]: PodDetails[K] extends Reading<infer T> ? Source<T> : never };

interface PodSources extends DetailSources {
  readonly path: string;
  readonly memory: Source<CgroupMemory>;
}

function openSources(layout: CgroupLayout, path: string): PodSources {
  const pressure = `${layout.pressure ?? ''}/${path}`;
  return {
    path,
    memory: memoryCgroupSource(layout, path),
    events: memoryEventsSource(layout, path),
    cpu: cpuCgroupSource(layout, path),
    pids: pidsCgroupSource(layout, path),
    io: ioCgroupSource(layout, path),
    memoryStalls: stallSource('pod-memory-stalls', pressure, 'memory.pressure'),
    cpuStalls: stallSource('pod-cpu-stalls', pressure, 'cpu.pressure'),
    ioStalls: stallSource('pod-io-stalls', pressure, 'io.pressure'),
  };
}

function closeSources(sources: PodSources): void {
  const { memory, events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls } = sources;
  for (const source of [memory, events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls]) source.close();
}

function readAll(sources: DetailSources): PodDetails {
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

/** Keyed by the UID given to `follow`. */
export function createPodScanner(layout: CgroupLayout): PodScanner {
  const open = new Map<string, PodSources>();

  function drop(uid: string, sources: PodSources): void {
    closeSources(sources);
    open.delete(uid);
  }

  function follow(pods: readonly PodCgroupName[]): void {
    const paths = new Map(pods.map((pod) => [pod.uid, podCgroupPath(layout, pod)]));
    for (const [uid, sources] of open) if (paths.get(uid) !== sources.path) drop(uid, sources);
    for (const [uid, path] of paths) if (!open.has(uid)) open.set(uid, openSources(layout, path));
  }

  function readDetails(uid: string): PodDetails | undefined {
    const sources = open.get(uid);
    return sources === undefined ? undefined : readAll(sources);
  }

  function close(): void {
    for (const [uid, sources] of open) drop(uid, sources);
  }
  return {
    follow,
    readMemory: (uid) => open.get(uid)?.memory.read(),
    readProcesses: (uid) => open.get(uid)?.pids.read(),
    readDetails,
    close,
  };
}
