/** Many waits of the same length. */
export interface SharedTimeout {
  /** Calls back when the time is over; returns how to prevent that. */
  add(onLate: () => void): () => void;
}

interface Wait {
  readonly dueAt: number;
  readonly onLate: () => void;
}

/** One timer for all of them, for one each would be dear for every request: those that began first are over first. */
export function createSharedTimeout(ms: number): SharedTimeout {
  const waits = new Set<Wait>();
  let isArmed = false;

  function arm(inMs: number): void {
    isArmed = true;
    setTimeout(check, Math.max(1, Math.ceil(inMs))).unref();
  }

  function check(): void {
    isArmed = false;
    const now = performance.now();
    for (const wait of waits) {
      if (wait.dueAt > now) {
        arm(wait.dueAt - now);
        return;
      }
      waits.delete(wait);
      wait.onLate();
    }
  }

  return {
    add: (onLate) => {
      const wait = { dueAt: performance.now() + ms, onLate };
      waits.add(wait);
      if (!isArmed) arm(ms);
      return () => void waits.delete(wait);
    },
  };
}
