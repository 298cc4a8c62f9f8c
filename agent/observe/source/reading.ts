/**
 * The result of reading a source: a value, *absent* (this node does not have it: no PSI, no such cgroup) or *failed*
 * (it exists but could not be read). Absent and failed never count as zero.
 */
export type Reading<T> = { readonly kind: 'reading'; readonly value: T } | Missing;

export type Missing = Absent | Failed;

export interface Absent {
  readonly kind: 'absent';
  readonly because: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly because: string;
}

/** Something that can be read repeatedly; `read` never throws, `close` may be called more than once. */
export interface Source<T> {
  readonly name: string;
  readonly read: () => Reading<T>;
  readonly close: () => void;
}

export function reading<T>(value: T): Reading<T> {
  return { kind: 'reading', value };
}

export function absent(because: string): Absent {
  return { kind: 'absent', because };
}

export function failed(because: string): Failed {
  return { kind: 'failed', because };
}

/** The value that was read; `undefined` if it is missing. */
export function valueOf<T>(answer: Reading<T> | undefined): T | undefined {
  return answer?.kind === 'reading' ? answer.value : undefined;
}

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
