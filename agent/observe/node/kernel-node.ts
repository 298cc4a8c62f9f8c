import type { FilesystemReading, NodeReadings, ProcessReading } from '#shared/domain/pressure/observation.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createCounterWindow } from '#agent/observe/source/counter-window.ts';
import { type FilesystemRoom, readFilesystem } from '#agent/observe/kernel/filesystem.ts';
import { createGroupMeter } from '#agent/observe/cgroup/group-meter.ts';
import { createKernelPods } from './kernel-pods.ts';
import { createKernelMemory, type MemoryView } from './kernel-memory.ts';
import { type NodeCpu, nodeCpuSource } from '#agent/observe/kernel/node-cpu.ts';
import type { CpuRoom, NodeView } from '#agent/decide/snapshot/node-view.ts';
import type { NodeSource } from './node-source.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import { createPolledSource, type PolledSource } from '#agent/observe/source/polled-source.ts';
import { processCountSource, type ProcessCount } from '#agent/observe/kernel/process-count.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { createReclaimMeter } from '#agent/observe/kernel/reclaim-meter.ts';
import { createStallMeter } from '#agent/observe/kernel/stall-meter.ts';
import { stallSource } from '#agent/observe/kernel/stall.ts';
import { vmstatSource } from '#agent/observe/kernel/vmstat.ts';
import { watchSource } from '#agent/observe/source/watched-source.ts';

export interface KernelNodeOptions {
  readonly proc: string;
  readonly layout: CgroupLayout;
  /** Paths on the file systems to measure; `undefined` for those that are left to the kubelet. */
  readonly nodefs: string | undefined;
  readonly imagefs: string | undefined;
  readonly clock: Clock;
}

const CPU_WINDOW_MS = 60_000;
const DISK_PERIOD_MS = 10_000;
const DISK_DEADLINE_MS = 5000;

function processes(count: ProcessCount | undefined, at: number): ProcessReading | undefined {
  return count === undefined ? undefined : { at, maximum: count.most, running: count.tasks };
}

function filesystem(disk: PolledSource<FilesystemRoom> | undefined): FilesystemReading | undefined {
  const room = disk === undefined ? undefined : valueOf(disk.latest());
  return room === undefined ? undefined : { at: disk?.health().lastReadingAtMs, ...room };
}

/** The node from its kernel files: milliseconds old, and independent of kubelet and API server. */
export function createKernelNode({ proc, layout, nodefs, imagefs, clock }: KernelNodeOptions): NodeSource {
  const memory = createKernelMemory(proc, layout, clock);
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
  const groups = createGroupMeter(layout);
  const sources = [...memory.sources, vmstat, tasks, cpu, ...stalls.map(({ source }) => source)];

  function readings({ kubelet }: MemoryView, at: number): NodeReadings {
    return {
      ...kubelet,
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

  function readNode(nowMs: number): NodeView {
    const seen = memory.readNode(nowMs);
    const counters = vmstat.read();
    reclaim.note(counters, nowMs);
    for (const { source, meter } of stalls) meter.note(source.read(), nowMs);
    return {
      readings: readings(seen, nowMs),
      reclaimable: seen.reclaimable,
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

  function usage(depth: UsageDepth, nowMs: number): UsageByUid {
    if (depth === 'all') groups.measure(nowMs);
    return pods.usage(depth, nowMs);
  }

  function close(): void {
    for (const source of [...sources, memory, pods, groups]) source.close();
  }

  function health() {
    return [...sources, nodeDisk, imageDisk].flatMap((source) => (source === undefined ? [] : [source.health()]));
  }
  return {
    kind: 'kernel',
    readNode,
    follow: pods.follow,
    usage,
    podPressures: pods.podPressures,
    groups: groups.usages,
    containers: pods.containers,
    whyUnmeasured: pods.whyUnmeasured,
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
