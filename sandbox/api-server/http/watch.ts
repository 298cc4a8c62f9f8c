import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { badRequest, expired } from '#sandbox/api-server/errors/errors.ts';
import type { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { checkWatchOptions, readVersion } from '#sandbox/api-server/operations/list-options.ts';
import { readSelection } from '#sandbox/api-server/operations/selection.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { eventLine } from '#sandbox/api-server/storage/change.ts';
import type { Representation } from './representation.ts';
import { WatchSession } from './watch-session.ts';

const BOOKMARK_EVERY_MS = 60_000;
const SHORTEST_WATCH_SECONDS = 1_800;

/** Answers a watch: what is there first where that is asked for, then every change. Throws 400 and 422 before it begins. */
export function watchObjects(
  server: ServerState,
  request: ApiRequest,
  response: ServerResponse,
  representation: Representation,
): void {
  const { query, type } = request;
  checkWatchOptions(query);
  const collection = server.store.collection(type.storage);
  const version = readVersion(query);
  const session = new WatchSession(response, {
    collection,
    isSelected: readSelection(request),
    representation,
    sendsBookmarks: isTrue(query, 'allowWatchBookmarks'),
    revision: () => server.store.revision,
    bookmarkEveryMs: BOOKMARK_EVERY_MS,
    endAfterMs: endAfterMs(query),
  });
  begin(response);
  const { floor } = collection.history;
  const follows = version !== undefined && version > 0;
  if (query.get('sendInitialEvents') !== null) sendInitial(session, query);
  else if (!follows) session.sendInitial(false);
  else if (version >= floor) session.sendSince(version);
  else {
    response.end(errorLine(expired(`too old resource version: ${version} (${floor})`)));
    return;
  }
  session.follow();
}

function sendInitial(session: WatchSession, query: URLSearchParams): void {
  if (isTrue(query, 'sendInitialEvents')) session.sendInitial(isTrue(query, 'allowWatchBookmarks'));
}

function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value === 'true' || value === '1';
}

function endAfterMs(query: URLSearchParams): number {
  const text = query.get('timeoutSeconds') ?? '';
  if (text === '' || text === '0') return randomInt(SHORTEST_WATCH_SECONDS, 2 * SHORTEST_WATCH_SECONDS) * 1000;
  if (!/^\d{1,6}$/.test(text))
    throw badRequest(`timeoutSeconds: cannot parse ${JSON.stringify(text.slice(0, 40))}, expected a whole number`);
  return Number(text) * 1000;
}

function begin(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
  });
  response.flushHeaders();
}

/** An error inside a stream, which is how the real server says that the history no longer reaches back that far. */
function errorLine({ status }: StatusError): Buffer {
  return eventLine('ERROR', Buffer.from(JSON.stringify(status)));
}
