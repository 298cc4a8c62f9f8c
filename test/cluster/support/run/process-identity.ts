import { readFileSync } from 'node:fs';

/** One process, distinguished from any later one that is given its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to its start, as /proc says it. */
  readonly startTime: string;
}

/** The process that has a number now; undefined when none has, it waits to be reaped, or the system has no /proc. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  // The name in parentheses may itself hold spaces and parentheses.
  const fields = textOf(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  const [state = '', startTime] = [fields[0], fields[19]];
  return startTime === undefined || 'ZX'.includes(state) ? undefined : { pid, startTime };
}

/** Whether that very process runs. */
export function isRunning({ pid, startTime }: ProcessIdentity): boolean {
  return identityOf(pid)?.startTime === startTime;
}

/** A file below /proc, empty when the process is gone or another user's. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
