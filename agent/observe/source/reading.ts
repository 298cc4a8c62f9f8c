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
