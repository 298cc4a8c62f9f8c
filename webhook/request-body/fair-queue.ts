import { createFairShares, type Share } from './fair-shares.ts';

/** Runs one entry at a time; the others wait. */
export interface FairQueue {
  /**
   * Calls `begin` at once or when the entry's turn comes. Returns a share that ends the turn or leaves the queue;
   * `begin` receives the same. `undefined` when the queue is full.
   */
  enter(holders: readonly string[], begin: (turn: Share) => void): Share | undefined;
}

interface Entry {
  readonly holder: string;
  readonly begin: (turn: Share) => void;
  /** The slot in the queue. */
  readonly place: Share;
}

const NO_PLACE: Share = { end: () => undefined };

/**
 * A queue of at most `longest` entries, which no holder can fill alone; holders are served in turn, so that none waits
 * for all entries of another.
 */
export function createFairQueue(longest: number): FairQueue {
  const places = createFairShares(longest);
  /** By holder; the one served last is last. */
  const lines = new Map<string, readonly Entry[]>();
  let current: Entry | undefined;

  function start(entry: Entry): void {
    entry.place.end();
    current = entry;
    entry.begin(turnOf(entry));
  }

  function turnOf(entry: Entry): Share {
    return { end: () => (entry === current ? startNext() : leave(entry)) };
  }

  function startNext(): void {
    current = undefined;
    const [first] = lines;
    const [holder = '', [next, ...rest] = []] = first ?? [];
    if (next === undefined) return;
    lines.delete(holder);
    if (rest.length > 0) lines.set(holder, rest);
    start(next);
  }

  function leave(entry: Entry): void {
    entry.place.end();
    const rest = (lines.get(entry.holder) ?? []).filter((each) => each !== entry);
    if (rest.length === 0) lines.delete(entry.holder);
    else lines.set(entry.holder, rest);
  }

  return {
    enter: (holders, begin) => {
      const place = current === undefined ? NO_PLACE : places.take(holders, 1);
      if (place === undefined) return undefined;
      const [holder = ''] = holders;
      const entry = { holder, begin, place };
      if (current === undefined) start(entry);
      else lines.set(holder, [...(lines.get(holder) ?? []), entry]);
      return turnOf(entry);
    },
  };
}
