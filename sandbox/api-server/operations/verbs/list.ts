import { badRequest, expired, timedOut } from '#sandbox/api-server/errors/errors.ts';
import type { Revision } from '#sandbox/api-server/storage/revision.ts';
import type { Snapshot } from '#sandbox/api-server/storage/snapshot-cache.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import {
  decodeContinue,
  encodeContinue,
  checkListOptions,
  readVersion,
} from '#sandbox/api-server/operations/list-options.ts';
import { readSelection } from '#sandbox/api-server/operations/selection.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';

/** One page of a list. */
export interface Page {
  readonly revisions: readonly Revision[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
  /** Set only if it is exact, that is, without selectors. */
  readonly remaining: number | undefined;
}

/**
 * Lists the objects selected by a request, completely or in pages of the same revision. Throws 400, 410, 422 and 504.
 */
export function listObjects(server: ServerState, request: ApiRequest): Page {
  checkListOptions(request.query);
  const token = request.query.get('continue') ?? '';
  const { snapshot, start } = token === '' ? firstSnapshot(server, request) : laterSnapshot(server, request, token);
  const isSelected = readSelection(request);
  const limit = readLimit(request.query);
  return limit === 0
    ? wholeList(snapshot, start, isSelected)
    : page(server, request, { snapshot, start, limit, isSelected });
}

interface Position {
  readonly snapshot: Snapshot;
  /** The key to continue from. */
  readonly start: string;
}

function firstSnapshot(server: ServerState, { type, query }: ApiRequest): Position {
  const { store } = server;
  checkVersion(server, query);
  return { snapshot: { number: store.revision, revisions: store.collection(type.storage).values() }, start: '' };
}

/** The real server waits for a future version; here it never comes. */
function checkVersion({ store }: ServerState, query: URLSearchParams): void {
  const wanted = readVersion(query);
  if (wanted === undefined) return;
  if (wanted > store.revision) {
    const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' };
    throw timedOut(`Too large resource version: ${wanted}, current: ${store.revision}`, 1, [cause]);
  }
  if (query.get('resourceVersionMatch') === 'Exact' && wanted !== store.revision)
    throw expired('The resourceVersion for the provided list is too old.');
}

const INCONSISTENT =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function laterSnapshot(server: ServerState, { type, query }: ApiRequest, text: string): Position {
  if ((query.get('resourceVersion') ?? '') !== '' && query.get('resourceVersion') !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const { number, start } = decodeContinue(text);
  const { store, snapshots } = server;
  if (number === -1)
    return { snapshot: { number: store.revision, revisions: store.collection(type.storage).values() }, start };
  const snapshot = snapshots.get(snapshotKey(type.storage, number));
  if (snapshot === undefined) throw expired(INCONSISTENT, encodeContinue({ number: -1, start }));
  return { snapshot, start };
}

function snapshotKey(storage: string, number: number): string {
  return `${storage}@${number}`;
}

function wholeList(
  { number, revisions }: Snapshot,
  start: string,
  isSelected: (object: Revision['object']) => boolean,
): Page {
  const selected = revisions.filter(({ key, object }) => key >= start && isSelected(object));
  return { revisions: selected, resourceVersion: String(number), continueToken: '', remaining: undefined };
}

interface PageRequest extends Position {
  readonly limit: number;
  readonly isSelected: (object: Revision['object']) => boolean;
}

function page(
  server: ServerState,
  { type, query }: ApiRequest,
  { snapshot, start, limit, isSelected }: PageRequest,
): Page {
  const selected = snapshot.revisions.filter(({ key, object }) => key >= start && isSelected(object));
  const shown = selected.slice(0, limit);
  const next = selected[limit];
  if (next !== undefined) server.snapshots.put(snapshotKey(type.storage, snapshot.number), snapshot);
  const isCounted = (query.get('labelSelector') ?? '') === '' && (query.get('fieldSelector') ?? '') === '';
  return {
    revisions: shown,
    resourceVersion: String(snapshot.number),
    continueToken: next === undefined ? '' : encodeContinue({ number: snapshot.number, start: next.key }),
    remaining: next !== undefined && isCounted ? selected.length - shown.length : undefined,
  };
}

function readLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '';
  if (text === '') return 0;
  if (!/^\d{1,9}$/.test(text))
    throw badRequest(`limit: cannot parse ${JSON.stringify(text.slice(0, 40))}, expected a whole number of at least 0`);
  return Number(text);
}
