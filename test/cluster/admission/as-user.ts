import { request } from 'node:https';
import { json } from 'node:stream/consumers';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import type { Answer } from '#test/contract/harness.ts';

export type AnswerOfUser = Pick<Answer, 'status' | 'headers' | 'body'>;

/** Sends requests as somebody else, which administrators may. */
export type AsUser = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<AnswerOfUser>;

/** Service accounts are named in full: `system:serviceaccount:NAMESPACE:NAME`. */
export function asUser({ server, ca, token }: ClusterConnection, user: string): AsUser {
  return async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${(await token?.()) ?? ''}`,
      'content-type': 'application/json',
      'impersonate-user': user,
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, server), { method, headers, ca }, (response) => {
        const { statusCode: status = 0, headers: received } = response;
        json(response).then((answer) => resolve({ status, headers: received, body: answer }), reject);
      });
      sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  };
}
