import type { ChildProcess } from 'node:child_process';

/** A program that should detect that memory runs short, and choose a process before the kernel's OOM killer does. */
export interface Racer {
  /** The process that will fill the memory. */
  readonly expect: (hog: ChildProcess) => void;
  /** When it requested the end of the process, by `performance.now()`; `undefined` before that. */
  readonly askedAtMs: () => number | undefined;
  readonly stop: () => Promise<void>;
}

/** The figure that a racer watches, read in the same way. */
export interface Track {
  readonly availableBytes: () => number;
  readonly oomKills: () => number;
  readonly close: () => void;
}
