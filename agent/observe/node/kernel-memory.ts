import { readdirSync } from 'node:fs';
import {
  type MemoryReadings,
  type NodeMemory,
  reclaimableInGroup,
  reclaimableOnNode,
  type LimitedMemory,
  type GuardedMemory,
  guardedCache,
} from '#shared/domain/pressure/memory-figure.ts';
import type { MemoryReading } from '#shared/domain/pressure/signal.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { podArithmetic } from '#shared/kube/decode/pod-arithmetic.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { type CgroupMemory, nodeMemorySource, limitOf } from '#agent/observe/cgroup/memory-cgroup.ts';
import {
  valueOf,
  failed,
  reading,
  type Reading,
  type Source,
  watchSource,
  type WatchedSource,
} from '#agent/observe/source/source.ts';
import { defineFields, NumberFile, readFields, KernelFile } from '#agent/observe/source/kernel-file.ts';

/** Both figures of the node's memory, read at the same moment. */
export interface MemoryView {
  /** As the kubelet computes them. */
  readonly kubelet: MemoryReadings;
  /** Memory that processes can still allocate. */
  readonly reclaimable: MemoryReadings;
}

export interface KernelMemory {
  readonly readNode: (nowMs: number) => MemoryView;
  readonly sources: readonly WatchedSource<unknown>[];
  readonly close: () => void;
}

/** The node's memory from /proc/meminfo, the root of the memory tree and the cgroup of all pods. */
export function createKernelMemory(proc: string, layout: CgroupLayout, clock: Clock): KernelMemory {
  const meminfo = watchSource(meminfoSource(proc), clock);
  const root = watchSource(nodeMemorySource(layout), clock);
  const pods = watchSource(podsMemorySource(layout), clock);
  const guards = { node: createGuardedCache(layout, ''), pods: createGuardedCache(layout, layout.kubepods) };
  const sources = [meminfo, root, pods];

  function readNode(at: number): MemoryView {
    const node = valueOf(meminfo.read());
    const group = limited(valueOf(pods.read()));
    return {
      kubelet: {
        memory: nodeMemory(node, valueOf(root.read()), at),
        allocatableMemory: group && leftOf(group.limitBytes, group.workingSetBytes, at),
      },
      reclaimable: {
        memory: node && reclaimableMemory(node, guards.node.bytesAt(at), at),
        allocatableMemory: group && reclaimableBelowLimit(group, guards.pods.bytesAt(at), at),
      },
    };
  }

  function close(): void {
    for (const each of [...sources, guards.node, guards.pods]) each.close();
  }
  return { readNode, sources, close };
}

/**
 * memory.available as the kubelet computes it: capacity minus the working set of the root cgroup, from 1.37 on also
 * minus huge pages (`adjustForHugePages` in `pkg/kubelet/server/stats/summary.go`).
 */
function nodeMemory(
  node: NodeMemory | undefined,
  root: CgroupMemory | undefined,
  at: number,
): MemoryReading | undefined {
  if (node === undefined || root === undefined) return undefined;
  const { totalBytes, hugePageBytes = 0 } = node;
  const capacityBytes = podArithmetic() === '1.37' ? totalBytes - hugePageBytes : totalBytes;
  return { ...leftOf(capacityBytes, root.workingSetBytes, at), hugePageBytes };
}

/** Without a limit on the cgroup of all pods the signal does not exist. */
function limited(pods: PodsMemory | undefined): PodsMemory | undefined {
  return pods !== undefined && Number.isFinite(pods.limitBytes) ? pods : undefined;
}

function leftOf(capacityBytes: number, workingSetBytes: number, at: number): MemoryReading {
  return { at, availableBytes: Math.max(0, capacityBytes - workingSetBytes), workingSetBytes };
}

/** The node's reclaimable memory, from /proc/meminfo minus cache that cgroups protect. */
export function reclaimableMemory(node: NodeMemory, guardedBytes: number, at: number): MemoryReading {
  const { totalBytes, hugePageBytes } = node;
  const availableBytes = reclaimableOnNode(node, guardedBytes);
  return { at, availableBytes, workingSetBytes: totalBytes - availableBytes, hugePageBytes };
}

function reclaimableBelowLimit(pods: PodsMemory, guardedBytes: number, at: number): MemoryReading {
  const availableBytes = reclaimableInGroup(pods, guardedBytes);
  return { at, availableBytes, workingSetBytes: pods.limitBytes - availableBytes };
}

const MEMINFO_KEYS = [
  'MemTotal',
  'MemAvailable',
  'Active(file)',
  'Inactive(file)',
  'Dirty',
  'Writeback',
  'Hugetlb',
] as const;
const MEMINFO = defineFields(...MEMINFO_KEYS);
const KIBIBYTE = 1024;

function bytes(key: (typeof MEMINFO_KEYS)[number]): number {
  return (MEMINFO.values[MEMINFO_KEYS.indexOf(key)] ?? Number.NaN) * KIBIBYTE;
}

/** /proc/meminfo: total and available memory, page cache and huge pages. */
export function meminfoSource(proc: string): Source<NodeMemory> {
  const file = new KernelFile(proc, 'meminfo');

  function read(): Reading<NodeMemory> {
    const missing = readFields(file, MEMINFO);
    if (missing !== undefined) return missing;
    const totalBytes = bytes('MemTotal');
    const availableBytes = bytes('MemAvailable');
    if (!(totalBytes > 0))
      return failed(`cannot use ${proc}/meminfo: MemTotal is ${totalBytes / KIBIBYTE}, expected kB above 0`);
    if (Number.isNaN(availableBytes)) return failed(`cannot use ${proc}/meminfo: no MemAvailable`);
    return reading({
      totalBytes,
      availableBytes,
      fileBytes: orNothing(bytes('Active(file)') + bytes('Inactive(file)')),
      unwrittenBytes: orNothing(bytes('Dirty') + bytes('Writeback')),
      hugePageBytes: orNothing(bytes('Hugetlb')),
    });
  }
  return { name: 'meminfo', read, close: () => file.close() };
}

/**
 * Memory of the cgroup of all pods: the inputs of the kubelet's figure and of what can be reclaimed below the limit.
 */
export interface PodsMemory extends LimitedMemory {
  /** As the kubelet computes it: usage without inactive page cache, at least 0. */
  readonly workingSetBytes: number;
}

const V1 = {
  usage: 'memory.usage_in_bytes',
  limit: 'memory.limit_in_bytes',
  // v1 does not report reclaimable slab, so it counts as used there.
  fields: defineFields('total_inactive_file', 'total_active_file', 'total_dirty', 'total_writeback'),
};
const V2 = {
  usage: 'memory.current',
  limit: 'memory.max',
  fields: defineFields('inactive_file', 'active_file', 'file_dirty', 'file_writeback', 'slab_reclaimable'),
};

/** A field or line that this kernel does not have counts as 0. */
function orNothing(value: number | undefined): number {
  return value === undefined || Number.isNaN(value) ? 0 : value;
}

function podsMemoryOf(usageBytes: number, limitBytes: number, values: Float64Array): PodsMemory {
  const [inactiveFile = Number.NaN, activeFile, dirty, writeback, slab] = values;
  return {
    usageBytes,
    limitBytes,
    workingSetBytes: Math.max(0, usageBytes - inactiveFile),
    fileBytes: inactiveFile + orNothing(activeFile),
    unwrittenBytes: orNothing(dirty) + orNothing(writeback),
    reclaimableSlabBytes: orNothing(slab),
  };
}

/** Usage, limit and memory.stat of the cgroup of all pods, on v1 including its descendants. */
export function podsMemorySource(layout: CgroupLayout): Source<PodsMemory> {
  const names = layout.version === 'v1' ? V1 : V2;
  const directory = `${layout.memory}/${layout.kubepods}`;
  const usage = new NumberFile(directory, names.usage);
  const limit = new NumberFile(directory, names.limit);
  const stat = new KernelFile(directory, 'memory.stat');

  function read(): Reading<PodsMemory> {
    const usageBytes = usage.readNumber();
    if (usageBytes === undefined) return usage.missing;
    const limitBytes = limitOf(limit.readNumber());
    const missing = readFields(stat, names.fields);
    if (missing !== undefined) return missing;
    const memory = podsMemoryOf(usageBytes, limitBytes, names.fields.values);
    if (Number.isFinite(memory.workingSetBytes)) return reading(memory);
    return failed(`cannot use ${directory}: expected ${names.usage} and the inactive file cache in memory.stat`);
  }

  function close(): void {
    for (const file of [usage, limit, stat]) file.close();
  }
  return { name: 'pods-memory', read, close };
}

/** Page cache that cgroups protect by `memory.min`. */
export interface GuardedCache {
  /** In bytes, now; 0 if no cgroup sets memory.min. */
  readonly bytesAt: (nowMs: number) => number;
  readonly close: () => void;
}

/** One cgroup with a `memory.min`, whose files stay open. */
interface Guarded {
  readonly minBytes: number;
  readonly usage: NumberFile;
  readonly stat: KernelFile;
}

/** memory.min is set when a service or a pod starts, and rarely changes. */
const RESCAN_MS = 10_000;
const FIELDS = defineFields('inactive_file', 'active_file');

/**
 * Reads memory.min of the cgroups directly below `path` of the memory tree (empty: its root). No cgroup can protect
 * more than its parent does, so that level is enough. cgroup v1 has no memory.min.
 */
export function createGuardedCache(layout: CgroupLayout, path: string): GuardedCache {
  const directory = path === '' ? layout.memory : `${layout.memory}/${path}`;
  let groups: readonly Guarded[] = [];
  let lookedAtMs = -Infinity;

  function bytesAt(nowMs: number): number {
    if (layout.version === 'v1') return 0;
    if (nowMs - lookedAtMs >= RESCAN_MS) {
      close();
      groups = findGuarded(directory);
      lookedAtMs = nowMs;
    }
    return groups.length === 0 ? 0 : guardedCache(groups.flatMap(memoryOf));
  }

  function close(): void {
    for (const { usage, stat } of groups) {
      usage.close();
      stat.close();
    }
  }
  return { bytesAt, close };
}

function findGuarded(directory: string): readonly Guarded[] {
  return childrenOf(directory).flatMap((child) => {
    const group = `${directory}/${child}`;
    const minBytes = readOnce(group, 'memory.min');
    if (!(minBytes > 0)) return [];
    return [{ minBytes, usage: new NumberFile(group, 'memory.current'), stat: new KernelFile(group, 'memory.stat') }];
  });
}

/** Empty when the cgroup is gone. */
function childrenOf(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function readOnce(directory: string, name: string): number {
  const file = new NumberFile(directory, name);
  const value = file.readNumber() ?? Number.NaN;
  file.close();
  return value;
}

/** Empty for a cgroup that was removed in the meantime. */
function memoryOf({ minBytes, usage, stat }: Guarded): readonly GuardedMemory[] {
  const usageBytes = usage.readNumber();
  if (usageBytes === undefined || readFields(stat, FIELDS) !== undefined) return [];
  const fileBytes = FIELDS.values.reduce((sum, each) => sum + each, 0);
  return Number.isFinite(usageBytes + fileBytes) ? [{ usageBytes, fileBytes, minBytes }] : [];
}
