import type { ListWatch } from '#shared/kube/reflector/list-watch.ts';

/** The API server sends a bookmark to each watch about once a minute, so a longer silence means a stalled watch. */
const STALE_AFTER_MS = 75_000;

/**
 * Whether the API server has been silent about one of these kinds for so long that the copy says nothing about the
 * present. `nowMs` is monotonic. A kind that was never read is missing, not stale.
 */
export function isStale(kinds: readonly Pick<ListWatch, 'lastContactMs'>[], nowMs: number): boolean {
  return kinds.some((kind) => nowMs - (kind.lastContactMs() ?? nowMs) > STALE_AFTER_MS);
}
