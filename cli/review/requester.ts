import type { Requester } from '#shared/domain/admission/request.ts';

const AUTHENTICATED = 'system:authenticated';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/** A requester by name, with the groups that the API server adds by itself. Without a name the requester is unknown. */
export function requesterOf(name = '', groups: readonly string[] = []): Requester {
  const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
  const implied = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name, groups: [...new Set([...groups, ...implied, AUTHENTICATED])] };
}
