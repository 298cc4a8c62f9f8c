import type { Clock } from '#shared/runtime/clock.ts';

/** In milliseconds. */
export interface WorkLimits {
  /** For all tasks together, before other work of the process gets a turn. */
  readonly turnMs: number;
  /** Processor time that one task may use. */
  readonly workMs: number;
  /** From the start of a task. It is longer than the task's own work, because other work gets turns in between. */
  readonly waitMs: number;
}

/** The limit that a task has exhausted: its own work, or the time until its answer is due. */
export type Exhausted = 'work' | 'wait';

/** Times in milliseconds. */
export interface WorkClock extends Pick<Clock, 'monotonic'> {
  /** Processor time used by the process. */
  readonly processorMs: () => number;
}

/** Work in small steps that checks its limits and ends on its own. */
export type Task<T> = (exhausted: () => Exhausted | undefined) => Iterator<undefined, T>;

/** Called exactly once, with the result of a task or its error. */
export type Done<T> = (
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
) => void;

interface UnderWay {
  readonly startedAt: number;
  workedMs: number;
  /** Runs one step; false once the task has ended. */
  readonly step: () => boolean;
}

/**
 * Runs tasks in turns with all other work of the process. However many tasks there are, the event loop waits for at
 * most one turn and one step at a time. Tasks run in order of arrival, so that only one of them holds intermediate
 * results. A task is charged for its own steps, but not for waiting: neither for other tasks, nor for a processor that
 * other processes use. Processor time is read once a turn, because reading it takes longer than most steps.
 */
export class WorkTurns {
  readonly #limits: WorkLimits;
  readonly #clock: WorkClock;
  readonly #afterThisTurn: (next: () => void) => void;
  readonly #waiting: UnderWay[] = [];
  #now = 0;
  #usedMs = 0;
  #isPaused = false;

  constructor(limits: WorkLimits, clock: WorkClock, afterThisTurn: (next: () => void) => void = setImmediate) {
    this.#limits = limits;
    this.#clock = clock;
    this.#afterThisTurn = afterThisTurn;
  }

  /** Starts a task, at once if no other task waits or has just had its turn. */
  run<T>(task: Task<T>, done: Done<T>): void {
    const steps = task(() => this.#exhausted(underWay));
    const underWay = { startedAt: this.#clock.monotonic(), workedMs: 0, step: () => doStep(steps, done) };
    this.#waiting.push(underWay);
    if (!this.#isPaused) this.#takeTurn();
  }

  #takeTurn(): void {
    while (this.#usedMs < this.#limits.turnMs) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#pause();
      if (this.#work(next)) this.#waiting.unshift(next);
    }
  }

  /** Yields to the event loop before the next turn. */
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#afterThisTurn(() => {
      this.#isPaused = false;
      this.#usedMs = 0;
      this.#takeTurn();
    });
  }

  /** Works on a task until the task or the turn ends; true if the task continues. */
  #work(task: UnderWay): boolean {
    const startedAt = this.#clock.monotonic();
    const processorMs = this.#clock.processorMs();
    const turnEnd = startedAt + this.#limits.turnMs - this.#usedMs;
    const isUnfinished = this.#stepUntil(turnEnd, task);
    const elapsedMs = this.#now - startedAt;
    this.#usedMs += elapsedMs;
    // Other threads of the process, such as the garbage collector's, do not count as work of the task.
    task.workedMs += Math.min(elapsedMs, this.#clock.processorMs() - processorMs);
    return isUnfinished;
  }

  #stepUntil(turnEnd: number, { step }: UnderWay): boolean {
    for (;;) {
      const isUnfinished = step();
      this.#now = this.#clock.monotonic();
      if (!isUnfinished || this.#now >= turnEnd) return isUnfinished;
    }
  }

  #exhausted({ startedAt, workedMs }: UnderWay): Exhausted | undefined {
    if (workedMs >= this.#limits.workMs) return 'work';
    return this.#now - startedAt >= this.#limits.waitMs ? 'wait' : undefined;
  }
}

/** Processor time of this process, in milliseconds. The kernel updates that of a single thread only at its ticks. */
export function processorMs(): number {
  const { system, user } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** False once the task has ended. */
function doStep<T>(steps: Iterator<undefined, T>, done: Done<T>): boolean {
  let step;
  try {
    step = steps.next();
  } catch (error) {
    done({ ok: false, error });
    return false;
  }
  if (step.done !== true) return true;
  done({ ok: true, value: step.value });
  return false;
}
