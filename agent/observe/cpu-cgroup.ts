import type { CgroupLayout } from './cgroup-layout.ts';
import { createFieldFile, createNumberFile } from './field-file.ts';
import { absent, failed, reading, type Reading, type Source } from './reading.ts';

/** CPU of one cgroup since it was made. */
export interface CgroupCpu {
  readonly usageSeconds: number;
  /** Time that tasks waited because the group had used up its quota: evidence for CPU pressure. */
  readonly throttledSeconds: number;
}

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

function v2Source(directory: string): Source<CgroupCpu> {
  const file = createFieldFile(`${directory}/cpu.stat`, ['usage_usec', 'throttled_usec']);

  function read(): Reading<CgroupCpu> {
    const missing = file.read();
    if (missing !== undefined) return missing;
    const usageSeconds = (file.values[0] ?? Number.NaN) / MICROSECONDS;
    if (Number.isNaN(usageSeconds)) return failed(`cannot use ${directory}/cpu.stat: no usage_usec`);
    return reading({ usageSeconds, throttledSeconds: (file.values[1] ?? Number.NaN) / MICROSECONDS });
  }
  return { name: 'cpu-cgroup', read, close: file.close };
}

function v1Source(accounting: string, cpu: string): Source<CgroupCpu> {
  const usage = createNumberFile(`${accounting}/cpuacct.usage`);
  const stat = createFieldFile(`${cpu}/cpu.stat`, ['throttled_time']);

  function read(): Reading<CgroupCpu> {
    const nanoseconds = usage.read();
    if (nanoseconds === undefined) return usage.missing;
    if (!Number.isFinite(nanoseconds)) return failed(`cannot use ${accounting}/cpuacct.usage: expected nanoseconds`);
    const isMissing = stat.read() !== undefined;
    const throttled = isMissing ? Number.NaN : (stat.values[0] ?? Number.NaN);
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
