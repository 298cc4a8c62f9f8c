/** The most reservations in one write while no write was refused. */
export const WIDEST_BATCH = 1_000;

/**
 * After a write with `pending` reservations was refused permanently, the next one takes half of them, so that a bad
 * entry is soon isolated.
 */
export function narrowed(pending: number): number {
  return Math.max(1, pending >> 1);
}

/** After a successful write, or when the bad entry is out. */
export function widened(most: number): number {
  return Math.min(WIDEST_BATCH, most * 2);
}
