/** One finding of `plimsoll check`, and what to do next. */
export interface Finding {
  readonly level: 'Error' | 'Warning' | 'OK';
  /** The checked object. */
  readonly subject: string;
  readonly text: string;
  /** The next step; empty if there is nothing to do. */
  readonly next: string;
}

const MAX_NAMED = 5;

/** The first five names, and how many more there are. */
export function listed(names: readonly string[], what = 'nodes'): string {
  const more = names.length - MAX_NAMED;
  const named = names.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${named} and ${more} more ${what}` : named;
}

/** Keeps Plimsoll from working. */
export function error(subject: string, text: string, next: string): Finding {
  return { level: 'Error', subject, text, next };
}

/** A likely mistake. */
export function warning(subject: string, text: string, next: string): Finding {
  return { level: 'Warning', subject, text, next };
}

/** In order: there is nothing to do. */
export function ok(subject: string, text: string): Finding {
  return { level: 'OK', subject, text, next: '' };
}
