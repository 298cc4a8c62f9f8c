import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { Change } from '#sandbox/api-server/storage/change.ts';
import type { Collection } from '#sandbox/api-server/storage/collection.ts';
import type { Selection } from '#sandbox/api-server/operations/selection.ts';
import type { Representation } from './representation.ts';

export interface WatchOptions {
  readonly collection: Collection;
  readonly isSelected: Selection;
  readonly representation: Representation;
  readonly sendsBookmarks: boolean;
  /** The server's resourceVersion at the moment. */
  readonly revision: () => number;
  readonly bookmarkEveryMs: number;
  readonly endAfterMs: number;
}

/** While changes come thick, those of this time go out together: one encrypted write instead of many. */
const GATHER_MS = 5;

/** A watcher that reads this much slower than things change is cut off; it resumes from where it was. */
const MOST_UNREAD_BYTES = 32 * 1024 * 1024;

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

  /** Shows the objects that are there as ADDED events, and then, if asked, the mark that this was all. */
  sendInitial(endsWithBookmark: boolean): void {
    const { collection, isSelected } = this.#options;
    for (const revision of collection.values()) {
      if (isSelected(revision.object)) this.#send(new Change(undefined, revision, false), 'ADDED');
    }
    if (endsWithBookmark) this.#bookmark(true);
  }

  /** Sends the changes after a resourceVersion. */
  sendSince(number: number): void {
    for (const change of this.#options.collection.history.since(number)) this.#onChange(change);
  }

  /** Follows the collection until the time is up or the client goes. */
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

  #onChange(change: Change): void {
    const type = change.typeFor(this.#options.isSelected);
    if (type !== undefined) this.#send(change, type);
  }

  #send(change: Change, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
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
    if (this.#response.writableLength > MOST_UNREAD_BYTES) this.#response.destroy();
  }

  /** The last bookmark lets the client go on from here. */
  #finish(): void {
    this.#stop();
    if (this.#options.sendsBookmarks) this.#bookmark(false);
    setImmediate(() => {
      this.#flush();
      this.#response.end();
    });
  }
}
