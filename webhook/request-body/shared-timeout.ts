/** Many timeouts of the same length. */
export interface SharedTimeout {
  /** Calls back after the timeout; returns a function that cancels it. */
  add(onLate: () => void): () => void;
}

interface Wait {
  readonly dueAt: number;
  readonly onLate: () => void;
}

/** One timer for all of them, because one per request would be expensive: the oldest timeout ends first. */
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
