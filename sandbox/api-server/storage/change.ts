import { Buffer } from 'node:buffer';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { Revision, type View } from './revision.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One step of a collection. On removal `current` is the last state with the removal's resourceVersion. */
export class StoreChange {
  readonly number: number;
  readonly previous: Revision | undefined;
  readonly current: Revision;
  readonly isRemoval: boolean;
  readonly #lines = new Map<string, Buffer>();

  constructor(previous: Revision | undefined, current: Revision, isRemoval: boolean) {
    this.number = current.number;
    this.previous = previous;
    this.current = current;
    this.isRemoval = isRemoval;
  }

  /** The event for a watcher that sees only objects for which `isSeen` is true; undefined if it sees nothing. */
  typeFor(isSeen: (object: KubeObject) => boolean): ChangeType | undefined {
    const wasSeen = this.previous !== undefined && isSeen(this.previous.object);
    if (this.isRemoval) return wasSeen ? 'DELETED' : undefined;
    const isNowSeen = isSeen(this.current.object);
    if (isNowSeen) return wasSeen ? 'MODIFIED' : 'ADDED';
    return wasSeen ? 'DELETED' : undefined;
  }

  /** The object of an event of this type: an object that left the selection is shown in its last selected state. */
  revisionFor(type: ChangeType): Revision {
    if (type !== 'DELETED' || this.isRemoval || this.previous === undefined) return this.current;
    const { object, key } = this.previous;
    const metadata = { ...object.metadata, resourceVersion: String(this.number) };
    return new Revision(key, { ...object, metadata }, this.number);
  }

  /** The event as one line of a watch, encoded once for all watchers of a view. */
  line(type: ChangeType, view: View): Buffer {
    const key = `${type} ${view.apiVersion}`;
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line = eventLine(type, this.revisionFor(type).jsonIn(view));
    this.#lines.set(key, line);
    return line;
  }
}

const END = Buffer.from('}\n');

/** `{"type":"ADDED","object":{…}}` and a line feed. */
export function eventLine(type: string, json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), json, END]);
}
