import { existsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** Where a figure was measured; the load is that of this moment. */
export function environment(): object {
  const cgroups = existsSync('/sys/fs/cgroup/cgroup.controllers') ? 'v2' : 'v1';
  return {
    kernel: release(),
    cgroups,
    node: process.version,
    cpus: cpus().length,
    totalMemoryMiB: Math.round(totalmem() / 1024 / 1024),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}
