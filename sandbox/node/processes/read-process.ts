import { readFile } from 'node:fs/promises';
import type { ProcessUsage } from './process-source.ts';

/** The kernel's USER_HZ is 100 on every architecture that Node runs on. */
const NANOSECONDS_PER_TICK = 10_000_000;

/** The usage of a process from /proc, `undefined` once it is gone; file pages are the Node binary, shared by all pods. */
export async function readProcess(pid: number, procfs = '/proc'): Promise<ProcessUsage | undefined> {
  try {
    const [status, stat] = await Promise.all([
      readFile(`${procfs}/${pid}/status`, 'utf8'),
      readFile(`${procfs}/${pid}/stat`, 'utf8'),
    ]);
    return parseUsage(status, stat);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** A zombie has no memory lines: it counts as gone. */
export function parseUsage(status: string, stat: string): ProcessUsage | undefined {
  const anonymous = kibibytes(status, 'RssAnon');
  if (anonymous === undefined) return undefined;
  const workingSetBytes = anonymous + (kibibytes(status, 'RssShmem') ?? 0);
  return { workingSetBytes, rssBytes: kibibytes(status, 'VmRSS') ?? workingSetBytes, cpuNanoSeconds: cpuTime(stat) };
}

function kibibytes(status: string, name: string): number | undefined {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
  return line?.[1] === undefined ? undefined : Number(line[1]) * 1024;
}

/** Fields 14 and 15, utime and stime; the name in field 2 may contain anything, blanks and brackets included. */
function cpuTime(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * NANOSECONDS_PER_TICK;
}

/** ESRCH comes from a process that ends between open and read. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}
