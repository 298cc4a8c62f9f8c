/**
 * Whether something that should be there has been missing for so long that it counts as lost:
 *
 *     there ── missing for lostMs ──▶ lost ── there for foundMs ──▶ there
 */
export interface Presence {
  readonly isThere: boolean;
  /** Since when it has been so without a break. */
  readonly sinceMs: number;
  readonly isLost: boolean;
}

export interface Patience {
  readonly lostMs: number;
  readonly foundMs: number;
}

/** Before the first look it counts as there. */
export function presentSince(nowMs: number): Presence {
  return { isThere: true, sinceMs: nowMs, isLost: false };
}

/** The presence after one more look. */
export function advancePresence(
  previous: Presence,
  isThere: boolean,
  { lostMs, foundMs }: Patience,
  nowMs: number,
): Presence {
  const sinceMs = isThere === previous.isThere ? previous.sinceMs : nowMs;
  const lastedMs = nowMs - sinceMs;
  const isLost = previous.isLost ? !isThere || lastedMs < foundMs : !isThere && lastedMs >= lostMs;
  return { isThere, sinceMs, isLost };
}
