/** As many reservations as a write takes while none was refused. */
export const WIDEST_BATCH = 1_000;

/**
 * After a write of so many reservations was refused for good, half of them share the next one, so that a bad entry is soon
 * alone.
 */
export function narrowed(pending: number): number {
  return Math.max(1, pending >> 1);
}

/** After a write that went through, or when the bad entry is out. */
export function widened(most: number): number {
  return Math.min(WIDEST_BATCH, most * 2);
}
