import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '#test/cluster/support/run-program.ts';

/** Ways to use up a node's memory: command lines of processes, and what they need. All amounts in MiB. */

const MIB = 1024 * 1024;
const HUGE_PAGES_FILE = '/proc/sys/vm/nr_hugepages';

/** Something made for a while. */
export interface Made {
  readonly path: string;
  readonly remove: () => void;
}

/** A file of this size that takes no room on the disk. */
export function makeFile(mebibytes: number): Made {
  const folder = mkdtempSync(join(tmpdir(), 'read-'));
  const path = join(folder, 'file');
  writeFileSync(path, '');
  truncateSync(path, mebibytes * MIB);
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

/** Gives back the page cache of files read before: with it, a file that fills the memory is not cached as a whole. */
export function dropCaches(): void {
  writeFileSync('/proc/sys/vm/drop_caches', '3');
}

/** Reads a file over and over. */
export function readAgainAndAgain(path: string): readonly string[] {
  return ['sh', '-c', `while :; do cat ${path} > /dev/null; done`];
}

/** Takes huge pages of 2 MiB until the work is done. */
export async function besideHugePages<T>(pages: number, work: () => Promise<T>): Promise<T> {
  writeFileSync(HUGE_PAGES_FILE, String(pages));
  try {
    return await work();
  } finally {
    writeFileSync(HUGE_PAGES_FILE, '0');
  }
}

/** Fills memory with data that waits in sockets. */
export function fillSockets(mebibytes: number, mebibytesPerSecond: number): readonly string[] {
  const script = new URL('./fill-sockets.ts', import.meta.url).pathname;
  return [process.execPath, script, String(mebibytesPerSecond * MIB), String(mebibytes * MIB)];
}

/** An emptyDir in memory. */
export function makeMemoryVolume(): Made {
  const path = mkdtempSync('/run/emptydir-');
  runProgram('mount', ['-t', 'tmpfs', '-o', 'size=90%', 'emptydir', path]);
  return { path, remove: () => void runProgram('umount', [path]) };
}

/** Writes data and ends; what it wrote stays charged to its pod until it is removed. */
export function leaveData(path: string, mebibytes: number): readonly string[] {
  return ['sh', '-c', `dd if=/dev/zero of=${path} bs=1M count=${mebibytes} 2> /dev/null`];
}
