import type { CgroupLayout } from './cgroup-layout.ts';
import { createFieldFile, createNumberFile } from './field-file.ts';
import { reading, type Reading, type Source } from './reading.ts';

/** Counters of one cgroup since it was made. NaN where this kernel does not count it. */
export interface MemoryEvents {
  /** How often the group hit its own limit: the best sign that a pod is at it (real-kubernetes.md 8.3). */
  readonly limitHits: number;
  readonly oomKills: number;
}

function v2Source(directory: string): Source<MemoryEvents> {
  const file = createFieldFile(`${directory}/memory.events`, ['max', 'oom_kill']);

  function read(): Reading<MemoryEvents> {
    const missing = file.read();
    if (missing !== undefined) return missing;
    return reading({ limitHits: file.values[0] ?? Number.NaN, oomKills: file.values[1] ?? Number.NaN });
  }
  return { name: 'memory-events', read, close: file.close };
}

function v1Source(directory: string): Source<MemoryEvents> {
  const failcnt = createNumberFile(`${directory}/memory.failcnt`);
  const oom = createFieldFile(`${directory}/memory.oom_control`, ['oom_kill']);

  function read(): Reading<MemoryEvents> {
    const limitHits = failcnt.read();
    if (limitHits === undefined) return failcnt.missing;
    const isMissing = oom.read() !== undefined;
    return reading({ limitHits, oomKills: isMissing ? Number.NaN : (oom.values[0] ?? Number.NaN) });
  }

  function close(): void {
    failcnt.close();
    oom.close();
  }
  return { name: 'memory-events', read, close };
}

/** Limit hits and OOM kills of one group. */
export function memoryEventsSource(layout: CgroupLayout, path: string): Source<MemoryEvents> {
  const directory = `${layout.memory}/${path}`;
  return layout.version === 'v1' ? v1Source(directory) : v2Source(directory);
}
