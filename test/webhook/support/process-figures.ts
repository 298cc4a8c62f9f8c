import { readFileSync } from 'node:fs';

const TICK_MS = 10;

/** CPU that a process has used so far, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The same of its main thread alone, to the nanosecond. */
export function mainThreadMsOf(pid: number): number {
  const [onCpuNs] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(onCpuNs) / 1e6;
}

/** What is resident now, in MiB to one decimal. */
export function residentMiBOf(pid: number): number {
  return memoryOf(pid, 'VmRSS');
}

/** The most that was ever resident, in MiB to one decimal. */
export function peakMiBOf(pid: number): number {
  return memoryOf(pid, 'VmHWM');
}

/** A line of `/proc/PID/status`. */
function memoryOf(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return Math.round(Number(kib) / 102.4) / 10;
}
