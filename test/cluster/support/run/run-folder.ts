import { existsSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/** A folder with all files of one run, and the process that will end what runs in it. */
export interface Run {
  readonly folder: string;
  readonly purpose: string;
  readonly owner: ProcessIdentity;
  readonly isOwnerRunning: boolean;
}

/** Short, as the paths of sockets below may have a hundred characters only. */
const NAME = /^plimsoll-(?<purpose>[a-z]+)-(?<pid>\d+)-(?<startTime>\d+)-(?<space>\w+)-\w+$/;

/**
 * Makes a folder owned by this process, readable by its user alone. The name says who owns it, so there is no moment in
 * which a folder is there and its owner unknown. `purpose` is one lower-case word.
 */
export function makeRunFolder(purpose: string): string {
  const startTime = identityOf(process.pid)?.startTime ?? 'unknown';
  return mkdtempSync(join(parent(), `plimsoll-${purpose}-${process.pid}-${startTime}-${processSpace()}-`));
}

/** The runs of this user whose owners this process can tell dead from living; a container may share the folder, not the processes. */
export function listRuns(): readonly Run[] {
  const own = processSpace();
  return readdirSync(parent()).flatMap((name) => {
    const { purpose, pid, startTime, space } = NAME.exec(name)?.groups ?? {};
    const folder = join(parent(), name);
    if (purpose === undefined || startTime === undefined || space !== own || !isOwnFolder(folder)) return [];
    const owner = { pid: Number(pid), startTime };
    return [{ folder, purpose, owner, isOwnerRunning: isRunning(owner) }];
  });
}

/** Where the one run of a purpose is held (sole-holder.ts), of this user and these processes. */
export function solePlace(purpose: string): string {
  return join(parent(), `plimsoll-${purpose}-held-${process.getuid?.() ?? ''}-${processSpace()}`);
}

/** Numbers of processes mean something within one PID namespace only. */
function processSpace(): string {
  const link = '/proc/self/ns/pid';
  return existsSync(link) ? Number(readlinkSync(link).replaceAll(/\D/g, '')).toString(36) : 'unknown';
}

/** As the mount table spells it. */
function parent(): string {
  return realpathSync(tmpdir());
}

/** Whatever another user puts into the temporary folder is not to be believed. */
function isOwnFolder(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  return status !== undefined && status.isDirectory() && status.uid === process.getuid?.();
}
