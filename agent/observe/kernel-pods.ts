import type { ContainerUsage, FilesystemUsage, PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { memoryCgroupSource } from './memory-cgroup.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';
import { podCgroupPath } from './pod-cgroup-path.ts';
import { createPodScanner, type PodDetails } from './pod-scanner.ts';
import type { Reading } from './reading.ts';

const NANOSECONDS_PER_SECOND = 1e9;
const NO_DISK: FilesystemUsage = { usedBytes: undefined, inodesUsed: undefined };
/** What runtimes put around a container's id in the name of its group; nothing with the cgroupfs driver. */
const SCOPES: readonly (readonly [prefix: string, suffix: string])[] = [
  ['', ''],
  ['cri-containerd-', '.scope'],
  ['crio-', '.scope'],
  ['docker-', '.scope'],
];

/** Figures that are rates: the counters of the slow beat, and what came of the last two. */
interface Rates {
  readonly atMs: number;
  readonly cpuNanoseconds: number | undefined;
  readonly ioBytes: number | undefined;
  readonly processCount: number | undefined;
  readonly cpuNanoCores: number | undefined;
  readonly ioBytesPerSecond: number | undefined;
}

function valueOf<T>(answer: Reading<T> | undefined): T | undefined {
  return answer?.kind === 'reading' ? answer.value : undefined;
}

/** Whole units per second; a counter that went backwards is a new group and has no rate yet. */
function rate(before: number | undefined, after: number | undefined, elapsedMs: number): number | undefined {
  if (before === undefined || after === undefined || after < before || elapsedMs <= 0) return undefined;
  return Math.round(((after - before) * 1000) / elapsedMs);
}

type Counters = Pick<Rates, 'cpuNanoseconds' | 'ioBytes' | 'processCount'>;

function countersOf(details: PodDetails | undefined): Counters {
  const cpu = valueOf(details?.cpu);
  const io = valueOf(details?.io);
  return {
    cpuNanoseconds: cpu === undefined ? undefined : cpu.usageSeconds * NANOSECONDS_PER_SECOND,
    ioBytes: io === undefined ? undefined : io.readBytes + io.writtenBytes,
    processCount: valueOf(details?.pids)?.tasks,
  };
}

function nextRates(previous: Rates | undefined, counters: Counters, atMs: number): Rates {
  const elapsedMs = atMs - (previous?.atMs ?? atMs);
  return {
    ...counters,
    atMs,
    cpuNanoCores: rate(previous?.cpuNanoseconds, counters.cpuNanoseconds, elapsedMs),
    ioBytesPerSecond: rate(previous?.ioBytes, counters.ioBytes, elapsedMs),
  };
}

type KernelPods = Pick<NodeSource, 'follow' | 'usage' | 'containers' | 'close'>;

/** The statistics of the node's pods, from their cgroups. A pod whose group cannot be read is not in the answer. */
export function createKernelPods(layout: CgroupLayout): KernelPods {
  const scanner = createPodScanner(layout);
  const rates = new Map<string, Rates>();
  let followed: ReadonlyMap<string, ObservedPod> = new Map();

  function follow(pods: readonly ObservedPod[]): void {
    followed = new Map(pods.map((pod) => [pod.uid, pod]));
    scanner.follow(pods.map(({ cgroup }) => cgroup));
    for (const uid of rates.keys()) if (!followed.has(uid)) rates.delete(uid);
  }

  function measure(pod: ObservedPod, nowMs: number): PodUsage | undefined {
    const memory = valueOf(scanner.readMemory(pod.cgroup.uid));
    if (memory === undefined) return undefined;
    const known = rates.get(pod.uid);
    return {
      uid: pod.uid,
      memory: { at: nowMs, workingSetBytes: memory.workingSetBytes },
      processCount: known?.processCount,
      cpuNanoCores: known?.cpuNanoCores,
      ioBytesPerSecond: known?.ioBytesPerSecond,
      ephemeralStorageBytes: undefined,
      containers: [],
      volumes: [],
    };
  }

  function usage(depth: 'memory' | 'all', nowMs: number): UsageByUid {
    const seen = new Map<string, PodUsage>();
    for (const pod of followed.values()) {
      if (depth === 'all')
        rates.set(pod.uid, nextRates(rates.get(pod.uid), countersOf(scanner.readDetails(pod.cgroup.uid)), nowMs));
      const measured = measure(pod, nowMs);
      if (measured !== undefined) seen.set(pod.uid, measured);
    }
    return seen;
  }

  function containers(uid: string): readonly ContainerUsage[] {
    const pod = followed.get(uid);
    if (pod === undefined) return [];
    const directory = podCgroupPath(layout, pod.cgroup);
    return pod.containers.map(({ name, id }) => ({
      name,
      workingSetBytes: containerMemory(layout, directory, id),
      rootfs: NO_DISK,
      logs: NO_DISK,
    }));
  }
  return { follow, usage, containers, close: scanner.close };
}

function containerMemory(layout: CgroupLayout, directory: string, id: string): number | undefined {
  for (const [prefix, suffix] of SCOPES) {
    const source = memoryCgroupSource(layout, `${directory}/${prefix}${id}${suffix}`);
    const memory = valueOf(source.read());
    source.close();
    if (memory !== undefined) return memory.workingSetBytes;
  }
  return undefined;
}
