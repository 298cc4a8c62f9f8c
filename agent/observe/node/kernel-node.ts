import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createGroupMeter } from '#agent/observe/cgroup/pod-rates.ts';
import type { ObservedNode } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { UsageDepth } from '#shared/decide/eviction/memory-trend.ts';
import { areOfOneMachine } from '#shared/domain/pressure/memory-figure.ts';
import type { MemoryReading, FilesystemReading, NodeReadings } from '#shared/domain/pressure/signal.ts';
import { meminfoSource, createKernelMemory, reclaimableMemory } from './kernel-memory.ts';
import { valueOf, watchSource, createPolledSource, type PolledSource } from '#agent/observe/source/source.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { createKernelActivity } from './kernel-activity.ts';
import { createKernelPods } from './kernel-pods.ts';
import type { NodeSource } from './node-source.ts';

export interface KernelNodeOptions extends DiskPaths {
  readonly proc: string;
  readonly layout: CgroupLayout;
  readonly clock: Clock;
}

/** The node from its kernel files: milliseconds old, and independent of kubelet and API server. */
export function createKernelNode({ proc, layout, clock, ...paths }: KernelNodeOptions): NodeSource {
  const memory = createKernelMemory(proc, layout, clock);
  const activity = createKernelActivity(proc, clock);
  const disks = createKernelDisks(paths, clock);
  const pods = createKernelPods(layout);
  const groups = createGroupMeter(layout);
  const sources = [...memory.sources, ...activity.sources];

  function readNode(nowMs: number): ObservedNode {
    const seen = memory.readNode(nowMs);
    const { processes, ...others } = activity.readNode(nowMs);
    return {
      readings: { ...seen.kubelet, ...disks.readings(), processes },
      reclaimable: seen.reclaimable,
      ...others,
    };
  }

  function usage(depth: UsageDepth, nowMs: number): UsageByUid {
    if (depth === 'all') groups.measure(nowMs);
    return pods.usage(depth, nowMs);
  }

  function close(): void {
    for (const source of [...sources, memory, pods, groups]) source.close();
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
    health: () => [...sources.map((source) => source.health()), ...disks.health()],
    run: disks.run,
    close,
  };
}

interface OwnKernelOptions {
  readonly proc: string;
  /** Whether the kernel below `proc` is that of the node. */
  readonly isNodesKernel: () => boolean;
  readonly clock: Clock;
}

/**
 * A summary up to 16 s old, completed with current data from /proc if the agent runs on that node: the kernel must have
 * the boot ID of the Node and the memory that the kubelet reports. The boot ID alone is not enough, because a container
 * with a virtual /proc/meminfo has the boot ID of its host.
 */
export function withOwnKernel(summary: NodeSource, { proc, isNodesKernel, clock }: OwnKernelOptions): NodeSource {
  const meminfo = watchSource(meminfoSource(proc), clock);
  const activity = createKernelActivity(proc, clock);
  const sources = [meminfo, ...activity.sources];
  let reported: MemoryReading | undefined;
  let isOwn = false;

  function readOwn(nowMs: number): MemoryReading | undefined {
    if (!isNodesKernel()) return undefined;
    const memory = valueOf(meminfo.read());
    const own = memory && reclaimableMemory(memory, 0, nowMs);
    return areOfOneMachine(own, reported) ? own : undefined;
  }

  function readNode(nowMs: number): ObservedNode {
    const view = summary.readNode(nowMs);
    reported = view.readings.memory ?? reported;
    const memory = readOwn(nowMs);
    isOwn = memory !== undefined;
    if (memory === undefined) return view;
    const { processes, stalls, ...others } = activity.readNode(nowMs);
    return {
      readings: { ...view.readings, processes: processes ?? view.readings.processes },
      reclaimable: { memory },
      stalls: stalls.length > 0 ? stalls : view.stalls,
      ...others,
    };
  }

  function close(): void {
    for (const source of sources) source.close();
    summary.close();
  }
  return {
    ...summary,
    readNode,
    health: () => [...summary.health(), ...(isOwn ? sources.map((source) => source.health()) : [])],
    close,
  };
}

/** Whether the kernel below `proc` booted with the id that the kubelet posted; containers share that of their node. */
export function kernelMatcher(proc: string, nodeBootId: () => string | undefined): () => boolean {
  const bootId = readBootId(proc);
  return () => bootId !== undefined && bootId === nodeBootId();
}

function readBootId(proc: string): string | undefined {
  try {
    return readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Paths on the file systems to measure; `undefined` for those that the kubelet handles. */
export interface DiskPaths {
  readonly nodefs: string | undefined;
  readonly imagefs: string | undefined;
}

type Disk = PolledSource<FilesystemRoom>;

const PERIOD_MS = 10_000;
const DEADLINE_MS = 5000;

/** The node's file systems. They are polled, because a call may hang on one that does not answer. */
function createKernelDisks({ nodefs, imagefs }: DiskPaths, clock: Clock) {
  const node = openDisk('nodefs', nodefs, clock);
  const image = openDisk('imagefs', imagefs, clock);
  const disks = [node, image].filter((disk) => disk !== undefined);
  return {
    readings: (): Pick<NodeReadings, 'nodeFilesystem' | 'imageFilesystem' | 'containerFilesystem'> => ({
      nodeFilesystem: latest(node),
      imageFilesystem: latest(image),
      containerFilesystem: latest(image ?? node),
    }),
    health: () => disks.map((disk) => disk.health()),
    /** Polls until the signal aborts. */
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all(disks.map((disk) => poll(disk, clock, signal)));
    },
  };
}

function openDisk(name: string, path: string | undefined, clock: Clock): Disk | undefined {
  if (path === undefined) return undefined;
  return createPolledSource({ name, ask: () => readFilesystem(path), timeToLiveMs: 3 * PERIOD_MS, clock });
}

function latest(disk: Disk | undefined): FilesystemReading | undefined {
  const room = disk === undefined ? undefined : valueOf(disk.latest());
  return room === undefined ? undefined : { at: disk?.health().lastReadingAtMs, ...room };
}

function poll(disk: Disk, clock: Clock, signal: AbortSignal): Promise<void> {
  return repeat(
    { task: disk.poll, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, onError: () => undefined, clock },
    signal,
  );
}

/** Free space of one file system as the kubelet counts it: what an unprivileged user can still allocate. */
export interface FilesystemRoom {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
}

/** statfs(2) of the file system that contains `path`; asynchronous, because a hung disk must not stop the loop. */
export async function readFilesystem(path: string): Promise<FilesystemRoom> {
  const room = await statfs(path);
  return {
    availableBytes: room.bavail * room.bsize,
    capacityBytes: room.blocks * room.bsize,
    inodesFree: room.ffree,
    inodes: room.files,
  };
}
