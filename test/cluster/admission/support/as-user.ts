import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import type { ClusterConnection } from '#shared/kube/client/connection.ts';
import type { Answer } from '#test/contract/harness.ts';

export type AnswerOfUser = Pick<Answer, 'status' | 'headers' | 'body'>;

/**
 * Sends requests as one user, with the bytes unchanged; a PATCH is a merge patch. Administrators may impersonate
 * others.
 */
export type AsUser = (
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: object | Uint8Array,
) => Promise<AnswerOfUser>;

/** The extra fields of an authenticated user. */
export interface UserDetails {
  readonly groups?: readonly string[];
  /** By key, one value each, such as `authentication.kubernetes.io/node-name`. */
  readonly extra?: Readonly<Record<string, string>>;
}

/**
 * Service accounts are named in full: `system:serviceaccount:NAMESPACE:NAME`; their groups follow from that. Without a
 * name it is the user whose token the connection has.
 */
export function asUser(
  { server, ca, token }: ClusterConnection,
  user?: string,
  { groups = [], extra = {} }: UserDetails = {},
): AsUser {
  const extraHeaders = Object.entries(extra).map(([key, value]) => [
    `impersonate-extra-${encodeURIComponent(key)}`,
    value,
  ]);
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${(await token?.()) ?? ''}`,
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ...(user !== undefined && { 'impersonate-user': user }),
      ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
      ...(Object.fromEntries(extraHeaders) as Record<string, string>),
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, server), { method, headers, ca }, (response) => {
        const { statusCode: status = 0, headers: received } = response;
        json(response).then((answer) => resolve({ status, headers: received, body: answer }), reject);
      });
      sent.on('error', reject).end(body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body));
    });
  };
}
