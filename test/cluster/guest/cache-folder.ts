import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where everything about guests is kept between runs, in the user's cache folder. */
export function guestCache(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'plimsoll', 'guest');
}
