const SHARE = Number(process.env['PLIMSOLL_TEST_VOLUME'] ?? 1);
if (!(SHARE > 0 && SHARE <= 1)) throw new Error('PLIMSOLL_TEST_VOLUME must be above 0 and at most 1');

/**
 * How many seeds, steps or requests a seeded test runs of those that it can: all of them, or the share that
 * `PLIMSOLL_TEST_VOLUME` asks for, always the first ones and at least one.
 */
export function volume(whole: number): number {
  return Math.ceil(whole * SHARE);
}
