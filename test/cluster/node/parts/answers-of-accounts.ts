import { readFileSync } from 'node:fs';

interface Entry {
  readonly requestReceivedTimestamp?: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

const OURS = /^system:serviceaccount:plimsoll-(?:system|node):plimsoll-/;
/** After a lost race: to a JSON patch that tests the version, and to the nomination of a pod that was just bound. */
const LOST_RACE =
  /^the server rejected our request due to an error in our request$|: may not be set on pods that are already bound to a node$/;
/** What a rewritten object, a lost race, an object that is not there yet and a limit are answered with. */
const IN_ORDER = new Set([200, 201, 202, 404, 409, 429]);

/**
 * What the API server refused our own accounts, `CODE ACCOUNT VERB RESOURCE`, each once: a right that is missing, a policy
 * that stands in the way, or a request that is none. While an API server starts it knows no role, and answers all the same:
 * what it refused at such a time is left out.
 */
export function refusalsOf(auditLog: string, isStarting: (at: number) => boolean = () => false): readonly string[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  const entries = lines.filter((line) => line.includes(':plimsoll-')).map((line) => JSON.parse(line) as Entry);
  const refused = entries.filter(
    ({ user, responseStatus: status, requestReceivedTimestamp = '' }) =>
      OURS.test(user.username) &&
      !IN_ORDER.has(status?.code ?? 200) &&
      !LOST_RACE.test(status?.message ?? '') &&
      !isStarting(Date.parse(requestReceivedTimestamp)),
  );
  return [...new Set(refused.map(textOf))].sort();
}

function textOf({ verb, user, objectRef, responseStatus }: Entry): string {
  const path = [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/');
  return `${responseStatus?.code} ${user.username.replace(/.*:/, '')} ${verb} ${path}: ${responseStatus?.message ?? ''}`;
}
