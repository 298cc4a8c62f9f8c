import { readFileSync } from 'node:fs';
import type { Attempt } from './attempt.ts';

interface Entry {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/**
 * What a program asked of the API server, each kind of request once; paths that are no resources are left out. A test
 * that borrows the program's token has another user agent.
 */
export function requestsOf(auditLog: string, userAgent: string): readonly Attempt[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  const entries = lines.map((line) => JSON.parse(line) as Entry).filter((entry) => entry.userAgent === userAgent);
  const attempts = entries.flatMap(({ verb, objectRef }) =>
    objectRef === undefined ? [] : [attemptOf(verb, objectRef)],
  );
  return [...new Map(attempts.map((attempt) => [JSON.stringify(attempt), attempt])).values()];
}

function attemptOf(verb: string, ref: NonNullable<Entry['objectRef']>): Attempt {
  const { resource = '', subresource = '', apiGroup: group = '', namespace = '', name = '' } = ref;
  return { verb, group, resource, subresource, namespace, name };
}
