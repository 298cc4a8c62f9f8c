/**
 * Whether something expected has been missing for so long that it counts as lost:
 *
 *     there ── missing for lostMs ──▶ lost ── there for foundMs ──▶ there
 */
export interface Presence {
  readonly isPresent: boolean;
  /** Since when `isPresent` has not changed. */
  readonly sinceMs: number;
  readonly isLost: boolean;
}

export interface Patience {
  readonly lostMs: number;
  readonly foundMs: number;
}

/** Before the first observation it counts as present. */
export function presentSince(nowMs: number): Presence {
  return { isPresent: true, sinceMs: nowMs, isLost: false };
}

/** The presence after one more observation. */
export function advancePresence(
  previous: Presence,
  isPresent: boolean,
  { lostMs, foundMs }: Patience,
  nowMs: number,
): Presence {
  const sinceMs = isPresent === previous.isPresent ? previous.sinceMs : nowMs;
  const lastedMs = nowMs - sinceMs;
  const isLost = previous.isLost ? !isPresent || lastedMs < foundMs : !isPresent && lastedMs >= lostMs;
  return { isPresent, sinceMs, isLost };
}
