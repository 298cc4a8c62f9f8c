import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Revision } from './revision.ts';

/** The state of a list at its first page, so that later pages show the same revision. */
export interface Snapshot {
  readonly number: number;
  readonly revisions: readonly Revision[];
}

/** The last few snapshots of lists that are being read in pages. */
export class SnapshotCache {
  readonly #limit: number;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Snapshot | undefined {
    return this.#snapshots.get(key);
  }

  put(key: string, snapshot: Snapshot): void {
    putBounded(this.#snapshots, this.#limit, [key, snapshot]);
  }

  clear(): void {
    this.#snapshots.clear();
  }
}
