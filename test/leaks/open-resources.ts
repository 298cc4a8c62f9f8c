import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test must not leave open, by the names of `process.getActiveResourcesInfo`. */
const WATCHED: Readonly<Record<string, string>> = {
  ProcessWrap: 'child process',
  TCPServerWrap: 'listener',
  TCPSocketWrap: 'socket',
  UDPWrap: 'datagram socket',
};

/** Numbers of open resources, by kind. */
export type OpenResources = ReadonlyMap<string, number>;

/** What is open in this process now. */
export function openResources(): OpenResources {
  const open = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    const kind = WATCHED[name];
    if (kind !== undefined) open.set(kind, (open.get(kind) ?? 0) + 1);
  }
  return open;
}

/** What is open now and was not before, in words: `2 sockets`; empty for nothing. */
export function leakedSince(before: OpenResources, now: OpenResources): readonly string[] {
  return Array.from(now).flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
    return more > 0 ? [`${more} ${kind}${more === 1 ? '' : kind.endsWith('s') ? 'es' : 's'}`] : [];
  });
}

/** A temporary folder of one test file: what `tmpdir()` says from now on, also to the processes that it starts. */
export interface OwnTemporaryFolder {
  /** The names of what is left in it. */
  readonly left: () => readonly string[];
  /** Removes it. */
  readonly remove: () => void;
}

const OPEN_TO_ALL = 0o1777;

/** Makes the temporary folder of this test file. */
export function ownTemporaryFolder(): OwnTemporaryFolder {
  const usual = tmpdir();
  const folder = mkdtempSync(join(usual, 'pt-'));
  // As the usual one: processes of other users write there.
  chmodSync(folder, OPEN_TO_ALL);
  process.env['USUAL_TMPDIR'] = usual;
  process.env['TMPDIR'] = folder;
  return {
    left: () => readdirSync(folder),
    remove: () => {
      process.env['TMPDIR'] = usual;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
