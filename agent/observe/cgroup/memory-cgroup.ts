import { defineFields, NumberFile, readFields, KernelFile } from '#agent/observe/source/kernel-file.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/source.ts';
import type { CgroupLayout } from './cgroup-layout.ts';

/** Memory of one cgroup in bytes; the kubelet ranks and counts by the working set. */
export interface CgroupMemory {
  readonly usageBytes: number;
  /** Usage without inactive page cache; at least 0. */
  readonly workingSetBytes: number;
  /** Infinity where there is no limit. */
  readonly limitBytes: number;
}

/** v1 writes the largest page-aligned number for "none". */
const UNLIMITED = 2 ** 62;

/** The limit as read from its file; Infinity if there is none. */
export function limitOf(value: number | undefined): number {
  return value === undefined || value > UNLIMITED ? Number.POSITIVE_INFINITY : value;
}

function memoryOf(usageBytes: number, inactiveFileBytes: number, limitBytes: number): CgroupMemory {
  return { usageBytes, workingSetBytes: Math.max(0, usageBytes - inactiveFileBytes), limitBytes };
}

const V1 = {
  usage: 'memory.usage_in_bytes',
  limit: 'memory.limit_in_bytes',
  inactiveFile: 'total_inactive_file',
  fields: defineFields('total_inactive_file'),
};
const V2 = {
  usage: 'memory.current',
  limit: 'memory.max',
  inactiveFile: 'inactive_file',
  fields: defineFields('inactive_file'),
};

/** Memory of any cgroup except the root of v2; `path` is relative to the memory tree, empty for the root of v1. */
export function memoryCgroupSource(layout: CgroupLayout, path: string): Source<CgroupMemory> {
  const names = layout.version === 'v1' ? V1 : V2;
  const directory = `${layout.memory}/${path}`;
  const usage = new NumberFile(directory, names.usage);
  const limit = new NumberFile(directory, names.limit);
  const stat = new KernelFile(directory, 'memory.stat');

  function read(): Reading<CgroupMemory> {
    const usageBytes = usage.readNumber();
    if (usageBytes === undefined) return usage.missing;
    const missing = readFields(stat, names.fields);
    if (missing !== undefined) return missing;
    const inactiveFileBytes = names.fields.values[0] ?? Number.NaN;
    if (!Number.isFinite(usageBytes))
      return failed(`cannot use ${directory}/${names.usage}: expected a number of bytes`);
    if (Number.isNaN(inactiveFileBytes)) return failed(`cannot use ${directory}/memory.stat: no ${names.inactiveFile}`);
    return reading(memoryOf(usageBytes, inactiveFileBytes, limitOf(limit.readNumber())));
  }

  function close(): void {
    for (const file of [usage, limit, stat]) file.close();
  }
  return { name: 'memory-cgroup', read, close };
}

const ROOT_KEYS = ['anon', 'file', 'inactive_file'] as const;
const ROOT_FIELDS = defineFields(...ROOT_KEYS);

function readRoot(stat: KernelFile, directory: string): Reading<CgroupMemory> {
  const missing = readFields(stat, ROOT_FIELDS);
  if (missing !== undefined) return missing;
  const [anon, file, inactiveFile] = ROOT_FIELDS.values;
  const usageBytes = (anon ?? Number.NaN) + (file ?? Number.NaN);
  if (Number.isNaN(usageBytes + (inactiveFile ?? Number.NaN))) {
    return failed(`cannot use ${directory}/memory.stat: expected ${ROOT_KEYS.join(', ')}`);
  }
  return reading(memoryOf(usageBytes, inactiveFile ?? 0, Number.POSITIVE_INFINITY));
}

/** Memory of the whole node: v2 has no memory.current at its root, so anon + file of its memory.stat. */
export function nodeMemorySource(layout: CgroupLayout): Source<CgroupMemory> {
  if (layout.version === 'v1') return { ...memoryCgroupSource(layout, ''), name: 'node-memory' };
  const stat = new KernelFile(layout.memory, 'memory.stat');
  return { name: 'node-memory', read: () => readRoot(stat, layout.memory), close: () => stat.close() };
}

/** Counters of one cgroup since it was created; NaN where this kernel does not count. */
export interface MemoryEvents {
  /**
   * How often the cgroup hit its own limit, `memory.max` or the throttling one of the kubelet's MemoryQoS, `memory.high`:
   * the best sign that a pod is at it.
   */
  readonly limitHits: number;
  readonly oomKills: number;
}

const V2_FIELDS = defineFields('max', 'high', 'oom_kill');
const V1_FIELDS = defineFields('oom_kill');

function v2Source(directory: string): Source<MemoryEvents> {
  const file = new KernelFile(directory, 'memory.events');

  function read(): Reading<MemoryEvents> {
    const missing = readFields(file, V2_FIELDS);
    if (missing !== undefined) return missing;
    const [max = Number.NaN, high = Number.NaN, oomKills = Number.NaN] = V2_FIELDS.values;
    return reading({ limitHits: max + (Number.isNaN(high) ? 0 : high), oomKills });
  }
  return { name: 'memory-events', read, close: () => file.close() };
}

function v1Source(directory: string): Source<MemoryEvents> {
  const failcnt = new NumberFile(directory, 'memory.failcnt');
  const oom = new KernelFile(directory, 'memory.oom_control');

  function read(): Reading<MemoryEvents> {
    const limitHits = failcnt.readNumber();
    if (limitHits === undefined) return failcnt.missing;
    const isMissing = readFields(oom, V1_FIELDS) !== undefined;
    return reading({ limitHits, oomKills: isMissing ? Number.NaN : (V1_FIELDS.values[0] ?? Number.NaN) });
  }

  function close(): void {
    failcnt.close();
    oom.close();
  }
  return { name: 'memory-events', read, close };
}

/** Limit hits and OOM kills of one cgroup. */
export function memoryEventsSource(layout: CgroupLayout, path: string): Source<MemoryEvents> {
  const directory = `${layout.memory}/${path}`;
  return layout.version === 'v1' ? v1Source(directory) : v2Source(directory);
}
