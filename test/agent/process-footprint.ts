import { readFileSync } from 'node:fs';

export interface Footprint {
  readonly cpuSeconds: number;
  readonly rssMiB: number;
  readonly privateMiB: number;
}

const TICKS_PER_SECOND = 100;

/** CPU, resident and private (RssAnon) memory of a process now. */
export function footprintOf(pid: number): Footprint {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    rssMiB: mebibytes('VmRSS'),
    privateMiB: mebibytes('RssAnon'),
  };
}
