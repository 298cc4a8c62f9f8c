/**
 * What one source said this time: a value, *absent* (this node does not have it: no PSI, no such cgroup)
 * or *failed* (it should have it, and it could not be read). Absent and failed are never zero.
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

/** One thing that can be read again and again; `read` never throws, `close` may be called more than once. */
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

/** What was read; `undefined` for whatever is missing. */
export function valueOf<T>(answer: Reading<T> | undefined): T | undefined {
  return answer?.kind === 'reading' ? answer.value : undefined;
}
