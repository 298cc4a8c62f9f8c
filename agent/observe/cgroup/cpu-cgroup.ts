import type { CgroupLayout } from './cgroup-layout.ts';
import { defineFields, NumberFile, readFields } from '#agent/observe/source/field-file.ts';
import { KernelFile } from '#agent/observe/source/kernel-file.ts';
import { absent, failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

/** CPU time of one cgroup since it was created. */
export interface CgroupCpu {
  readonly usageSeconds: number;
  /** Time that tasks waited because the cgroup had used up its quota: evidence of CPU pressure. */
  readonly throttledSeconds: number;
}

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

const V2_FIELDS = defineFields('usage_usec', 'throttled_usec');
const V1_FIELDS = defineFields('throttled_time');

function v2Source(directory: string): Source<CgroupCpu> {
  const file = new KernelFile(directory, 'cpu.stat');

  function read(): Reading<CgroupCpu> {
    const missing = readFields(file, V2_FIELDS);
    if (missing !== undefined) return missing;
    const usageSeconds = (V2_FIELDS.values[0] ?? Number.NaN) / MICROSECONDS;
    if (Number.isNaN(usageSeconds)) return failed(`cannot use ${directory}/cpu.stat: no usage_usec`);
    return reading({ usageSeconds, throttledSeconds: (V2_FIELDS.values[1] ?? Number.NaN) / MICROSECONDS });
  }
  return { name: 'cpu-cgroup', read, close: () => file.close() };
}

function v1Source(accounting: string, cpu: string): Source<CgroupCpu> {
  const usage = new NumberFile(accounting, 'cpuacct.usage');
  const stat = new KernelFile(cpu, 'cpu.stat');

  function read(): Reading<CgroupCpu> {
    const nanoseconds = usage.readNumber();
    if (nanoseconds === undefined) return usage.missing;
    if (!Number.isFinite(nanoseconds)) return failed(`cannot use ${accounting}/cpuacct.usage: expected nanoseconds`);
    const isMissing = readFields(stat, V1_FIELDS) !== undefined;
    const throttled = isMissing ? Number.NaN : (V1_FIELDS.values[0] ?? Number.NaN);
    return reading({ usageSeconds: nanoseconds / NANOSECONDS, throttledSeconds: throttled / NANOSECONDS });
  }

  function close(): void {
    usage.close();
    stat.close();
  }
  return { name: 'cpu-cgroup', read, close };
}

function noTree(): Source<CgroupCpu> {
  const answer = absent('this node has no cpu accounting tree');
  return { name: 'cpu-cgroup', read: () => answer, close: () => undefined };
}

/** CPU usage and throttling of one group: cpu.stat on v2, cpuacct.usage and cpu.stat on v1. */
export function cpuCgroupSource(layout: CgroupLayout, path: string): Source<CgroupCpu> {
  if (layout.cpuAccounting === undefined) return noTree();
  if (layout.version === 'v2') return v2Source(`${layout.cpuAccounting}/${path}`);
  return v1Source(`${layout.cpuAccounting}/${path}`, `${layout.cpu ?? layout.cpuAccounting}/${path}`);
}
