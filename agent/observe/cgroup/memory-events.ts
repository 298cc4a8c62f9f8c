import type { CgroupLayout } from './cgroup-layout.ts';
import { defineFields, NumberFile, readFields } from '#agent/observe/source/field-file.ts';
import { KernelFile } from '#agent/observe/source/kernel-file.ts';
import { reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

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
