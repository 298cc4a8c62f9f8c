import type { CgroupLayout } from './cgroup-layout.ts';
import { createFieldFile, createNumberFile, type FieldFile } from './field-file.ts';
import { failed, reading, type Reading, type Source } from './reading.ts';

/** Memory of one cgroup in bytes; the working set is what the kubelet ranks and counts by. */
export interface CgroupMemory {
  readonly usageBytes: number;
  /** Usage without the page cache that the kernel would give up first; never below 0 (KS-C13). */
  readonly workingSetBytes: number;
  /** Infinity where there is no limit. */
  readonly limitBytes: number;
}

/** v1 writes the largest page-aligned number for "none". */
const UNLIMITED = 2 ** 62;

function limitOf(value: number | undefined): number {
  return value === undefined || value > UNLIMITED ? Number.POSITIVE_INFINITY : value;
}

function memoryOf(usageBytes: number, inactiveFileBytes: number, limitBytes: number): CgroupMemory {
  return { usageBytes, workingSetBytes: Math.max(0, usageBytes - inactiveFileBytes), limitBytes };
}

const V1 = { usage: 'memory.usage_in_bytes', limit: 'memory.limit_in_bytes', inactiveFile: 'total_inactive_file' };
const V2 = { usage: 'memory.current', limit: 'memory.max', inactiveFile: 'inactive_file' };

/** Memory of any group but the root of v2; `path` is below the layout's memory tree, empty for the root of v1. */
export function memoryCgroupSource(layout: CgroupLayout, path: string): Source<CgroupMemory> {
  const names = layout.version === 'v1' ? V1 : V2;
  const directory = `${layout.memory}/${path}`;
  const usage = createNumberFile(`${directory}/${names.usage}`);
  const limit = createNumberFile(`${directory}/${names.limit}`);
  const stat = createFieldFile(`${directory}/memory.stat`, [names.inactiveFile]);

  function read(): Reading<CgroupMemory> {
    const usageBytes = usage.read();
    if (usageBytes === undefined) return usage.missing;
    const missing = stat.read();
    if (missing !== undefined) return missing;
    const inactiveFileBytes = stat.values[0] ?? Number.NaN;
    if (!Number.isFinite(usageBytes))
      return failed(`cannot use ${directory}/${names.usage}: expected a number of bytes`);
    if (Number.isNaN(inactiveFileBytes)) return failed(`cannot use ${directory}/memory.stat: no ${names.inactiveFile}`);
    return reading(memoryOf(usageBytes, inactiveFileBytes, limitOf(limit.read())));
  }

  function close(): void {
    for (const file of [usage, limit, stat]) file.close();
  }
  return { name: 'memory-cgroup', read, close };
}

const ROOT_KEYS = ['anon', 'file', 'inactive_file'];

function readRoot(stat: FieldFile, directory: string): Reading<CgroupMemory> {
  const missing = stat.read();
  if (missing !== undefined) return missing;
  const [anon, file, inactiveFile] = stat.values;
  const usageBytes = (anon ?? Number.NaN) + (file ?? Number.NaN);
  if (Number.isNaN(usageBytes + (inactiveFile ?? Number.NaN))) {
    return failed(`cannot use ${directory}/memory.stat: expected ${ROOT_KEYS.join(', ')}`);
  }
  return reading(memoryOf(usageBytes, inactiveFile ?? 0, Number.POSITIVE_INFINITY));
}

/** Memory of the whole node: v2 has no memory.current at its root, so anon + file of its memory.stat (KS-C13). */
export function nodeMemorySource(layout: CgroupLayout): Source<CgroupMemory> {
  if (layout.version === 'v1') return { ...memoryCgroupSource(layout, ''), name: 'node-memory' };
  const stat = createFieldFile(`${layout.memory}/memory.stat`, ROOT_KEYS);
  return { name: 'node-memory', read: () => readRoot(stat, layout.memory), close: stat.close };
}
