import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { unauthorized } from '#sandbox/api-server/errors/errors.ts';
import type { User } from '#sandbox/api-server/operations/api-request.ts';

/** Authenticates the sender of a request. Throws 401 without a token, or with an unknown one. */
export type Authenticate = (headers: IncomingHttpHeaders) => User;

const BEARER = /^Bearer\s+(\S+)$/i;

/** Bearer tokens, compared by digest so that timing reveals nothing; `Impersonate-*` headers are respected. */
export function authenticator(users: ReadonlyMap<string, User>): Authenticate {
  const byDigest = new Map(Array.from(users, ([token, user]) => [digest(token), user]));
  return (headers) => {
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    const user = token === undefined ? undefined : byDigest.get(digest(token));
    if (user === undefined) throw unauthorized();
    return impersonated(headers) ?? user;
  };
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** There is no RBAC, so any token may impersonate any user. */
function impersonated(headers: IncomingHttpHeaders): User | undefined {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string' || username === '') return undefined;
  const groups = String(headers['impersonate-group'] ?? '')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
  const extra = impersonatedExtra(headers);
  return { username, groups: [...groups, 'system:authenticated'], ...(Object.keys(extra).length > 0 && { extra }) };
}

const EXTRA = 'impersonate-extra-';

/** Keys are escaped as in a URL. */
function impersonatedExtra(headers: IncomingHttpHeaders): Record<string, readonly string[]> {
  const entries = Object.entries(headers).filter(([name]) => name.startsWith(EXTRA));
  return Object.fromEntries(
    entries.map(([name, value]) => [decodeURIComponent(name.slice(EXTRA.length)), [String(value)]]),
  );
}
