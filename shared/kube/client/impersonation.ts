import type { OutgoingHttpHeaders } from 'node:http';

/** The user to act as; needs permission to impersonate. */
export interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra?: ReadonlyMap<string, readonly string[]>;
}

/** The headers that name the user to act as, as client-go writes them. */
export function impersonationHeaders(impersonate: Impersonation | undefined): OutgoingHttpHeaders {
  if (impersonate === undefined) return {};
  const { user, groups, uid, extra = new Map<string, readonly string[]>() } = impersonate;
  return {
    'impersonate-user': user,
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...Object.fromEntries(
      [...extra].map(([key, values]) => [`impersonate-extra-${escapeHeaderKey(key)}`, [...values]]),
    ),
  };
}

/** Percent-encodes what must not be in the name of a header, as client-go does. */
function escapeHeaderKey(key: string): string {
  const encoded = Array.from(Buffer.from(key), (byte) => {
    const char = String.fromCharCode(byte);
    return /[\w!#$&'*+.^`|~-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  });
  return encoded.join('');
}
