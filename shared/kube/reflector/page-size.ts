/** How many objects to ask for at once, so that a page has some bytes whatever the objects are like. */
export interface PageSize {
  next(): number;
  /** A page came; also one that was cut off. */
  read(items: number, bytes: number): void;
  /** A page did not come, or not to its end. */
  failed(): void;
}

/** An API server builds a page as a whole before it sends it, and gives it up after a minute. */
const PAGE_BYTES = 8 * 1024 * 1024;
const AFTER_FAILURE = 1 / 4;

/** Pages of at most `most` objects, and of at most some MiB once it is known how large objects are. */
export function createPageSize(most: number): PageSize {
  let size = most;
  return {
    next: () => size,
    read: (items, bytes) => {
      if (items > 0) size = bounded((PAGE_BYTES * items) / bytes, most);
    },
    failed: () => void (size = bounded(size * AFTER_FAILURE, most)),
  };
}

function bounded(size: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(size)));
}
