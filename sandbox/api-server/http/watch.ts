import { Buffer } from 'node:buffer';
import { randomInt } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { badRequest, expired } from '#sandbox/api-server/errors/errors.ts';
import type { StatusError } from '#sandbox/api-server/errors/status-error.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { checkWatchOptions, readVersion } from '#sandbox/api-server/operations/list-options.ts';
import { readSelection, type Selection } from '#sandbox/api-server/operations/selection.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { eventLine, StoreChange } from '#sandbox/api-server/storage/change.ts';
import type { Collection } from '#sandbox/api-server/storage/store.ts';
import type { Representation } from './representation.ts';

const BOOKMARK_EVERY_MS = 60_000;
const SHORTEST_WATCH_SECONDS = 1_800;

/** Answers a watch: first the existing objects if requested, then every change. Throws 400 and 422 before it begins. */
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

/** An error inside the stream, as the real server reports that the history no longer reaches back that far. */
function errorLine({ status }: StatusError): Buffer {
  return eventLine('ERROR', Buffer.from(JSON.stringify(status)));
}

export interface WatchOptions {
  readonly collection: Collection;
  readonly isSelected: Selection;
  readonly representation: Representation;
  readonly sendsBookmarks: boolean;
  /** The server's current resourceVersion. */
  readonly revision: () => number;
  readonly bookmarkEveryMs: number;
  readonly endAfterMs: number;
}

/** Changes within this time are sent together: one encrypted write instead of many. */
const GATHER_MS = 5;

/** A watcher that falls this far behind is disconnected; it resumes from its position. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/** One open watch: gathers lines and writes them together. */
export class WatchSession {
  readonly #options: WatchOptions;
  readonly #response: ServerResponse;
  #pending: Buffer[] = [];
  #isScheduled = false;
  #flushedAt = -Infinity;
  #stop: () => void = () => undefined;

  constructor(response: ServerResponse, options: WatchOptions) {
    this.#response = response;
    this.#options = options;
  }

  /** Sends the existing objects as ADDED events and then, if requested, the bookmark that ends them. */
  sendInitial(endsWithBookmark: boolean): void {
    const { collection, isSelected } = this.#options;
    for (const revision of collection.values()) {
      if (isSelected(revision.object)) this.#send(new StoreChange(undefined, revision, false), 'ADDED');
    }
    if (endsWithBookmark) this.#bookmark(true);
  }

  /** Sends the changes after a resourceVersion. */
  sendSince(number: number): void {
    for (const change of this.#options.collection.history.since(number)) this.#onChange(change);
  }

  /** Follows the collection until the timeout or until the client disconnects. */
  follow(): void {
    const { collection, bookmarkEveryMs, endAfterMs, sendsBookmarks } = this.#options;
    const unsubscribe = collection.onChange((change) => this.#onChange(change));
    const bookmarks = sendsBookmarks ? setInterval(() => this.#bookmark(false), bookmarkEveryMs) : undefined;
    const end = setTimeout(() => this.#finish(), endAfterMs);
    this.#stop = () => {
      unsubscribe();
      clearInterval(bookmarks);
      clearTimeout(end);
    };
    this.#response.once('close', () => this.#stop());
  }

  #onChange(change: StoreChange): void {
    const type = change.typeFor(this.#options.isSelected);
    if (type !== undefined) this.#send(change, type);
  }

  #send(change: StoreChange, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    this.#write(this.#options.representation.event(change, type));
  }

  #bookmark(isEndOfInitial: boolean): void {
    this.#write(this.#options.representation.bookmark(this.#options.revision(), isEndOfInitial));
  }

  #write(line: Buffer): void {
    this.#pending.push(line);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const isBusy = performance.now() - this.#flushedAt < GATHER_MS;
    if (isBusy) setTimeout(() => this.#flush(), GATHER_MS);
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#flushedAt = performance.now();
    const lines = this.#pending;
    this.#pending = [];
    const [first] = lines;
    if (first === undefined || this.#response.writableEnded || this.#response.destroyed) return;
    this.#response.write(lines.length === 1 ? first : Buffer.concat(lines));
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
  }

  /** The last bookmark lets the client resume from here. */
  #finish(): void {
    this.#stop();
    if (this.#options.sendsBookmarks) this.#bookmark(false);
    setImmediate(() => {
      this.#flush();
      this.#response.end();
    });
  }
}
