import type { ChildProcess } from 'node:child_process';

/** A program that should notice that memory runs short, and name a process before the kernel's OOM killer does. */
export interface Racer {
  /** The process that will fill the memory. */
  readonly expect: (hog: ChildProcess) => void;
  /** When it asked for the end of the process, on the clock of `performance.now()`; `undefined` before that. */
  readonly askedAtMs: () => number | undefined;
  readonly stop: () => Promise<void>;
}

/** What a racer watches, read as it reads it. */
export interface Track {
  readonly availableBytes: () => number;
  readonly oomKills: () => number;
  readonly close: () => void;
}
