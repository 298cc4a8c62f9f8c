import type { Clock } from '#shared/runtime/clock.ts';
import type { Settled, Wish } from './settle-batch.ts';

/** A wish that somebody waits for, or waited for until it was too late. */
export interface OpenWish extends Wish {
  /** Whether anybody still waits. */
  readonly isOpen: boolean;
  /** Tells what became of it; who has been told hears nothing more. */
  settle(settled: Settled): void;
}

/** Wishes in the order in which they came. Each is told something before its time is up, whatever else happens. */
export interface WishQueue {
  add(wish: Wish, withinMs: number): Promise<Settled>;
  /** Takes out the first, no more than so many. */
  take(most?: number): readonly OpenWish[];
  /** Puts those that are still open before all others. */
  putBack(wishes: readonly OpenWish[]): void;
  /** Whether nobody waits any more. */
  readonly isEmpty: boolean;
}

/** How late a wish may be given up. */
const TICK_MS = 50;
const LATE: Settled = { kind: 'busy', why: 'it could not be settled in time' };

export function createWishQueue(clock: Clock): WishQueue {
  let queued: OpenWish[] = [];
  const giveUpAt = new Map<OpenWish, number>();
  let isWatched = false;

  function open(wish: Wish, tell: (settled: Settled) => void): OpenWish {
    const opened: OpenWish = {
      ...wish,
      get isOpen() {
        return giveUpAt.has(opened);
      },
      settle: (settled) => {
        if (giveUpAt.delete(opened)) tell(settled);
      },
    };
    return opened;
  }

  async function giveUpLate(): Promise<void> {
    while (giveUpAt.size > 0) {
      await clock.sleep(TICK_MS);
      const now = clock.monotonic();
      for (const [wish, at] of giveUpAt) if (at <= now) wish.settle(LATE);
    }
    isWatched = false;
  }

  function watch(): void {
    if (isWatched) return;
    isWatched = true;
    void giveUpLate();
  }

  return {
    add: (wish, withinMs) =>
      new Promise((tell) => {
        const opened = open(wish, tell);
        giveUpAt.set(opened, clock.monotonic() + withinMs);
        queued.push(opened);
        watch();
      }),
    take: (most = Infinity) => {
      const open = queued.filter(({ isOpen }) => isOpen);
      queued = open.slice(most);
      return open.slice(0, most);
    },
    putBack: (wishes) => {
      queued = [...wishes.filter(({ isOpen }) => isOpen), ...queued];
    },
    get isEmpty() {
      return !queued.some(({ isOpen }) => isOpen);
    },
  };
}
