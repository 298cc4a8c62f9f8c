import { readdirSync } from 'node:fs';
import { type GuardedMemory, guardedCache } from '#shared/domain/pressure/reclaimable-memory.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { defineFields, NumberFile, readFields } from '#agent/observe/source/field-file.ts';
import { KernelFile } from '#agent/observe/source/kernel-file.ts';

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

/** memory.min is set when a service or a pod starts, and seldom changes. */
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

/** Empty for a cgroup that has been removed meanwhile. */
function memoryOf({ minBytes, usage, stat }: Guarded): readonly GuardedMemory[] {
  const usageBytes = usage.readNumber();
  if (usageBytes === undefined || readFields(stat, FIELDS) !== undefined) return [];
  const fileBytes = FIELDS.values.reduce((sum, each) => sum + each, 0);
  return Number.isFinite(usageBytes + fileBytes) ? [{ usageBytes, fileBytes, minBytes }] : [];
}
