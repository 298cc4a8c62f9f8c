import type { Clock } from '#shared/runtime/clock.ts';

/** In milliseconds. */
export interface WorkLimits {
  /** Of all tasks together before other callers of the process have theirs. */
  readonly turnMs: number;
  /** Of processor time that one task may take. */
  readonly workMs: number;
  /** From the begin of a task; more than its own work, as others have their turns meanwhile. */
  readonly waitMs: number;
}

/** What a task has used up: its own work, or the time until its answer must be there. */
export type Exhausted = 'work' | 'wait';

/** Times in milliseconds. */
export interface WorkClock extends Pick<Clock, 'monotonic'> {
  /** Processor time that the process has used. */
  readonly processorMs: () => number;
}

/** Work in small steps, which asks what it has used up and comes to an end by itself. */
export type Task<T> = (exhausted: () => Exhausted | undefined) => Iterator<undefined, T>;

/** Called exactly once, with the result of a task or what it threw. */
export type Done<T> = (
  result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown },
) => void;

interface UnderWay {
  readonly startedAt: number;
  workedMs: number;
  /** Does one step; false once the task has ended. */
  readonly step: () => boolean;
}

/**
 * Lets tasks take turns with everything else that the process does. However many there are, the event loop waits for no
 * more than one turn and one step at a time. They are done in the order in which they came, so that only one of them holds
 * what it has made. The steps of a task count as its work, the wait for others does not: neither for other tasks, nor for a
 * processor that other processes use. Processor time is read once a turn, as a look at it takes longer than most steps.
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

  /** Begins a task, at once where no other one waits or has just had its turn. */
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

  /** Leaves the event loop to others before the next turn. */
  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#afterThisTurn(() => {
      this.#isPaused = false;
      this.#usedMs = 0;
      this.#takeTurn();
    });
  }

  /** Works on a task until it ends or the turn does; true where it goes on. */
  #work(task: UnderWay): boolean {
    const startedAt = this.#clock.monotonic();
    const processorMs = this.#clock.processorMs();
    const turnEnd = startedAt + this.#limits.turnMs - this.#usedMs;
    const goesOn = this.#stepUntil(turnEnd, task);
    const elapsedMs = this.#now - startedAt;
    this.#usedMs += elapsedMs;
    // Other threads of the process, such as the garbage collector's, are no work of the task.
    task.workedMs += Math.min(elapsedMs, this.#clock.processorMs() - processorMs);
    return goesOn;
  }

  #stepUntil(turnEnd: number, { step }: UnderWay): boolean {
    for (;;) {
      const goesOn = step();
      this.#now = this.#clock.monotonic();
      if (!goesOn || this.#now >= turnEnd) return goesOn;
    }
  }

  #exhausted({ startedAt, workedMs }: UnderWay): Exhausted | undefined {
    if (workedMs >= this.#limits.workMs) return 'work';
    return this.#now - startedAt >= this.#limits.waitMs ? 'wait' : undefined;
  }
}

/** Processor time of this process, in milliseconds. That of a thread alone is known only as of the last tick of the kernel. */
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
