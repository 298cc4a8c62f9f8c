import type {
  FilesystemReading,
  MemoryReading,
  NodeReadings,
  ProcessReading,
} from '#shared/domain/pressure/observation.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { createCounterWindow } from './counter-window.ts';
import { type FilesystemRoom, readFilesystem } from './filesystem.ts';
import { createKernelPods } from './kernel-pods.ts';
import { meminfoSource, type MemoryInfo } from './meminfo.ts';
import { memoryCgroupSource, nodeMemorySource, type CgroupMemory } from './memory-cgroup.ts';
import { type NodeCpu, nodeCpuSource } from './node-cpu.ts';
import type { CpuRoom, NodeView } from '#agent/decide/node-view.ts';
import type { NodeSource } from './node-source.ts';
import { createPolledSource, type PolledSource } from './polled-source.ts';
import { processCountSource, type ProcessCount } from './process-count.ts';
import type { Reading } from './reading.ts';
import { createReclaimMeter } from './reclaim-meter.ts';
import { createStallMeter } from './stall-meter.ts';
import { stallSource } from './stall.ts';
import { vmstatSource } from './vmstat.ts';
import { watchSource } from './watched-source.ts';

export interface KernelNodeOptions {
  readonly proc: string;
  readonly layout: CgroupLayout;
  /** Mount points to look at; absent where the disk is left to the kubelet. */
  readonly nodefs: string | undefined;
  readonly imagefs: string | undefined;
  readonly clock: Clock;
}

const CPU_WINDOW_MS = 60_000;
const DISK_PERIOD_MS = 10_000;
const DISK_DEADLINE_MS = 5000;

function valueOf<T>(answer: Reading<T>): T | undefined {
  return answer.kind === 'reading' ? answer.value : undefined;
}

/** memory.available as the kubelet has it: capacity minus the working set of the root cgroup (KS-C4, C13). */
function nodeMemory(
  info: MemoryInfo | undefined,
  memory: CgroupMemory | undefined,
  at: number,
): MemoryReading | undefined {
  if (info === undefined || memory === undefined) return undefined;
  const availableBytes = Math.max(0, info.totalBytes - memory.workingSetBytes);
  return { at, availableBytes, workingSetBytes: memory.workingSetBytes };
}

/** Without a limit on the group of all pods there is no such signal. */
function allocatableMemory(memory: CgroupMemory | undefined, at: number): MemoryReading | undefined {
  if (memory === undefined || !Number.isFinite(memory.limitBytes)) return undefined;
  const availableBytes = Math.max(0, memory.limitBytes - memory.workingSetBytes);
  return { at, availableBytes, workingSetBytes: memory.workingSetBytes };
}

function processes(count: ProcessCount | undefined, at: number): ProcessReading | undefined {
  return count === undefined ? undefined : { at, maximum: count.most, running: count.tasks };
}

function filesystem(disk: PolledSource<FilesystemRoom> | undefined): FilesystemReading | undefined {
  const room = disk === undefined ? undefined : valueOf(disk.latest());
  return room === undefined ? undefined : { at: disk?.health().lastReadingAtMs, ...room };
}

/** The node read from its own files: milliseconds old, and independent of kubelet and API server (F-24). */
export function createKernelNode({ proc, layout, nodefs, imagefs, clock }: KernelNodeOptions): NodeSource {
  const meminfo = watchSource(meminfoSource(proc), clock);
  const memory = watchSource(nodeMemorySource(layout), clock);
  const podsMemory = watchSource({ ...memoryCgroupSource(layout, layout.kubepods), name: 'pods-memory' }, clock);
  const vmstat = watchSource(vmstatSource(proc), clock);
  const tasks = watchSource(processCountSource(proc), clock);
  const cpu = watchSource(nodeCpuSource(proc), clock);
  const stalls = (['memory', 'cpu', 'io'] as const).map((resource) => ({
    source: watchSource(stallSource(`${resource}-stalls`, `${proc}/pressure`, resource), clock),
    meter: createStallMeter(`${resource}.pressure`),
  }));
  const reclaim = createReclaimMeter();
  const cpuWindow = createCounterWindow(CPU_WINDOW_MS);
  const nodeDisk = openDisk('nodefs', nodefs, clock);
  const imageDisk = openDisk('imagefs', imagefs, clock);
  const pods = createKernelPods(layout);
  const sources = [meminfo, memory, podsMemory, vmstat, tasks, cpu, ...stalls.map(({ source }) => source)];

  function readings(info: MemoryInfo | undefined, at: number): NodeReadings {
    return {
      memory: nodeMemory(info, valueOf(memory.read()), at),
      allocatableMemory: allocatableMemory(valueOf(podsMemory.read()), at),
      nodeFilesystem: filesystem(nodeDisk),
      imageFilesystem: filesystem(imageDisk),
      containerFilesystem: filesystem(imageDisk ?? nodeDisk),
      processes: processes(valueOf(tasks.read()), at),
    };
  }

  function cpuRoom(seen: NodeCpu | undefined, at: number): CpuRoom | undefined {
    cpuWindow.add(seen?.busySeconds ?? Number.NaN, at);
    const rate = cpuWindow.rate();
    if (rate === undefined || seen === undefined) return undefined;
    return { availableCores: Math.max(0, seen.processors - rate * 1000), cores: seen.processors };
  }

  function look(nowMs: number): NodeView {
    const info = valueOf(meminfo.read());
    const counters = vmstat.read();
    reclaim.note(counters, nowMs);
    for (const { source, meter } of stalls) meter.note(source.read(), nowMs);
    return {
      readings: readings(info, nowMs),
      stalls: stalls.flatMap(({ meter }) => meter.ratios()),
      cpu: cpuRoom(valueOf(cpu.read()), nowMs),
      reclaim: reclaim.rates(),
      oomKills: valueOf(counters)?.oomKills,
    };
  }

  async function run(signal: AbortSignal): Promise<void> {
    const disks = [nodeDisk, imageDisk].filter((disk) => disk !== undefined);
    await Promise.all(disks.map((disk) => pollDisk(disk, clock, signal)));
  }

  function close(): void {
    for (const source of sources) source.close();
    pods.close();
  }

  function health() {
    return [...sources, nodeDisk, imageDisk].flatMap((source) => (source === undefined ? [] : [source.health()]));
  }
  return {
    kind: 'kernel',
    look,
    follow: pods.follow,
    usage: pods.usage,
    strains: pods.strains,
    containers: pods.containers,
    fallback: () => undefined,
    health,
    run,
    close,
  };
}

function openDisk(name: string, path: string | undefined, clock: Clock): PolledSource<FilesystemRoom> | undefined {
  if (path === undefined) return undefined;
  return createPolledSource({ name, ask: () => readFilesystem(path), timeToLiveMs: 3 * DISK_PERIOD_MS, clock });
}

function pollDisk(disk: PolledSource<FilesystemRoom>, clock: Clock, signal: AbortSignal): Promise<void> {
  return repeat(
    { task: disk.poll, periodMs: DISK_PERIOD_MS, deadlineMs: DISK_DEADLINE_MS, onError: () => undefined, clock },
    signal,
  );
}
