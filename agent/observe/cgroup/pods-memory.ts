import type { LimitedMemory } from '#shared/domain/pressure/reclaimable-memory.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { defineFields, NumberFile, readFields } from '#agent/observe/source/field-file.ts';
import { KernelFile } from '#agent/observe/source/kernel-file.ts';
import { limitOf } from './memory-cgroup.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

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

/** A field that this kernel does not have counts as 0. */
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
