import { readFileSync } from 'node:fs';

interface Entry {
  readonly requestReceivedTimestamp?: string;
  readonly verb: string;
  readonly stage?: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

const OURS = /^system:serviceaccount:plimsoll-(?:system|node):plimsoll-/;
/**
 * After a lost race: to a JSON patch that tests the version, and to the nomination of a pod that was just bound. At last,
 * to a caller that did not wait for the answer, or was killed.
 */
const LOST_RACE =
  /^the server rejected our request due to an error in our request$|: may not be set on pods that are already bound to a node$|^(?:.* - )?context canceled$/;
/** What a rewritten object, a lost race, an object that is not there yet and a limit are answered with. */
const IN_ORDER = new Set([200, 201, 202, 404, 409, 429]);

/**
 * What the API server refused our own accounts, `CODE ACCOUNT VERB RESOURCE`, each once: a right that is missing, a policy
 * that stands in the way, or a request that is none. While an API server starts it knows no role, and answers all the same:
 * what it refused at such a time is left out.
 */
export function refusalsOf(auditLog: string, isStarting: (at: number) => boolean = () => false): readonly string[] {
  const refused = entriesOfOurs(auditLog).filter(
    ({ responseStatus: status, requestReceivedTimestamp = '' }) =>
      !IN_ORDER.has(status?.code ?? 200) &&
      !LOST_RACE.test(status?.message ?? '') &&
      !isStarting(Date.parse(requestReceivedTimestamp)),
  );
  return [...new Set(refused.map(textOf))].sort();
}

/**
 * How often our accounts asked the API server from then on, `COUNT ACCOUNT VERB RESOURCE`, the most frequent first. The
 * first answer of a watch counts, and not its end.
 */
export function requestsSince(
  auditLog: string,
  at: number,
): { readonly total: number; readonly rows: readonly string[] } {
  const asked = entriesOfOurs(auditLog).filter(
    ({ requestReceivedTimestamp = '', verb, stage }) =>
      Date.parse(requestReceivedTimestamp) >= at && !(verb === 'watch' && stage === 'ResponseComplete'),
  );
  const kinds = Map.groupBy(asked, requestOf);
  const rows = Array.from(kinds, ([kind, { length }]) => [length, kind] as const);
  return { total: asked.length, rows: rows.toSorted(([a], [b]) => b - a).map((row) => row.join(' ')) };
}

/** The last line may still be written. */
function entriesOfOurs(auditLog: string): readonly Entry[] {
  const lines = readFileSync(auditLog, 'utf8').split('\n').slice(0, -1);
  // Most lines are those of others, and need no parsing.
  const entries = lines.filter((line) => line.includes(':plimsoll-')).map((line) => JSON.parse(line) as Entry);
  return entries.filter(({ user }) => OURS.test(user.username));
}

function requestOf({ verb, user, objectRef }: Entry): string {
  const path = [objectRef?.resource, objectRef?.subresource].filter((part) => part !== undefined).join('/');
  return `${user.username.replace(/.*:/, '')} ${verb} ${path}`;
}

function textOf(entry: Entry): string {
  const { responseStatus } = entry;
  return `${responseStatus?.code} ${requestOf(entry)}: ${responseStatus?.message ?? ''}`;
}
