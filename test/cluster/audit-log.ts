import { readFileSync } from 'node:fs';
import type { Attempt } from './rights-of.ts';

interface Entry {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** What a user asked of the API server, each kind of request once; paths that are no resources are left out. */
export function requestsOf(auditLog: string, userName: string): readonly Attempt[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  const entries = lines.map((line) => JSON.parse(line) as Entry).filter(({ user }) => user.username === userName);
  const attempts = entries.flatMap(({ verb, objectRef }) =>
    objectRef === undefined ? [] : [attemptOf(verb, objectRef)],
  );
  return [...new Map(attempts.map((attempt) => [JSON.stringify(attempt), attempt])).values()];
}

function attemptOf(verb: string, ref: NonNullable<Entry['objectRef']>): Attempt {
  const { resource = '', subresource = '', apiGroup: group = '', namespace = '', name = '' } = ref;
  return { verb, group, resource, subresource, namespace, name };
}
