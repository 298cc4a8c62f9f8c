/** How many wishes may share one write. */
export interface BatchSize {
  /** Whether a write was refused lately: then only wishes are written, and no more than `most` together. */
  readonly isNarrow: boolean;
  readonly most: number;
  /** The API server has refused a write of so many for good; one entry may be to blame. */
  narrow(wishes: number): void;
  /** A write went through, or the one to blame is out. */
  widen(): void;
}

const WIDEST = 1_000;

/** Halved with each refusal, so that one bad entry is soon alone, and doubled again after each success. */
export function createBatchSize(): BatchSize {
  let most = WIDEST;
  return {
    get isNarrow() {
      return most < WIDEST;
    },
    get most() {
      return most;
    },
    narrow: (wishes) => void (most = Math.max(1, wishes >> 1)),
    widen: () => void (most = Math.min(WIDEST, most * 2)),
  };
}
