import { existsSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/*
 * A place that one process at a time holds: a folder whose only entry is named after the holder. A folder is moved there
 * in one step, and only where nothing or an empty folder is. A holder that was killed is recognised by its name, and what is
 * taken away is the entry of that name, never one that another process has moved there meanwhile.
 */

/** Takes the place for this process; undefined when it has it, else who does. Rejects a folder with anything else in it. */
export function takePlace(place: string): ProcessIdentity | undefined {
  const offer = mkdtempSync(`${place}-`);
  writeFileSync(join(offer, entryOf(ownIdentity())), '');
  try {
    while (!isMoved(offer, place)) {
      const holder = holderOf(place);
      if (holder !== undefined && isRunning(holder)) return holder;
      if (holder !== undefined) removeEntry(place, holder);
    }
    return undefined;
  } finally {
    rmSync(offer, { recursive: true, force: true });
  }
}

/** Takes away what this process, or one that is gone, has there. */
export function leavePlace(place: string): void {
  const holder = existsSync(place) ? holderOf(place) : undefined;
  if (holder === undefined || (isRunning(holder) && holder.pid !== process.pid)) return;
  removeEntry(place, holder);
  unless(['ENOTEMPTY', 'ENOENT'], () => rmdirSync(place));
}

function removeEntry(place: string, holder: ProcessIdentity): void {
  rmSync(join(place, entryOf(holder)), { force: true });
}

/** Undefined when none does. */
function holderOf(place: string): ProcessIdentity | undefined {
  const [entry] = existsSync(place) ? readdirSync(place) : [];
  if (entry === undefined) return undefined;
  const { pid, startTime } = /^(?<pid>\d+)-(?<startTime>\w+)$/.exec(entry)?.groups ?? {};
  if (startTime === undefined) throw new Error(`cannot take ${place}: it holds "${entry}", which names no process`);
  return { pid: Number(pid), startTime };
}

function entryOf({ pid, startTime }: ProcessIdentity): string {
  return `${pid}-${startTime}`;
}

function ownIdentity(): ProcessIdentity {
  return identityOf(process.pid) ?? { pid: process.pid, startTime: 'unknown' };
}

function isMoved(from: string, to: string): boolean {
  return unless(['ENOTEMPTY', 'EEXIST'], () => renameSync(from, to));
}

/** Whether it was done; false where it failed in one of these ways. */
function unless(codes: readonly string[], act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return false;
    throw error;
  }
}
