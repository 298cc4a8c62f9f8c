import type { Requester } from '#shared/domain/admission/request.ts';

const AUTHENTICATED = 'system:authenticated';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):[^:]+$/;

/** Somebody by name, with the groups that the API server adds by itself. No name: nobody in particular. */
export function requesterOf(name = '', groups: readonly string[] = []): Requester {
  const namespace = SERVICE_ACCOUNT.exec(name)?.[1];
  const implied = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name, groups: [...new Set([...groups, ...implied, AUTHENTICATED])] };
}
