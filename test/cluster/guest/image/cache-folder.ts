import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from '#test/cluster/support/run/process-identity.ts';

/** Where everything about guests is kept between runs, in the user's cache folder. */
export function guestCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'plimsoll', 'guest');
}

/** Where something is made that is moved into the cache when it is complete. */
const NAME = /^making-(?<pid>\d+)-\w+$/;

/** Makes a folder in the cache for unfinished things, after those of processes that are gone were removed. */
export function makeWorkFolder(cache: string = guestCache()): string {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const pid = NAME.exec(name)?.groups?.['pid'];
    if (pid !== undefined && identityOf(Number(pid)) === undefined) {
      rmSync(join(cache, name), { recursive: true, force: true });
    }
  }
  return mkdtempSync(join(cache, `making-${process.pid}-`));
}
