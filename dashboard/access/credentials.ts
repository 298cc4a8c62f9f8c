import type { IncomingHttpHeaders } from 'node:http';
import type { User } from '#shared/kube/access/reviews.ts';

export type Credentials =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'user'; readonly user: User };

const LONGEST_TOKEN = 16_384;
const EXTRA = 'x-remote-extra-';

/**
 * Who a request says it comes from: a bearer token, or the headers of a front proxy (`X-Remote-User`, `X-Remote-Group`,
 * `X-Remote-Extra-…`), which count only where `trustsProxy`: then every caller is the proxy, by its certificate.
 * `k8s.io/apiserver/pkg/authentication/request/headerrequest`.
 */
export function credentialsOf(
  headers: IncomingHttpHeaders,
  distinct: NodeJS.Dict<string[]>,
  trustsProxy: boolean,
): Credentials | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token !== undefined && token.length <= LONGEST_TOKEN) return { kind: 'token', token };
  const [username = ''] = distinct['x-remote-user'] ?? [];
  if (!trustsProxy || username === '') return undefined;
  const extra = Object.entries(distinct).filter(([name]) => name.startsWith(EXTRA));
  return {
    kind: 'user',
    user: {
      username,
      groups: distinct['x-remote-group'] ?? [],
      extra: Object.fromEntries(extra.map(([name, values]) => [name.slice(EXTRA.length), values ?? []])),
    },
  };
}
