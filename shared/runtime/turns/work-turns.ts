import type { Clock } from '#shared/runtime/clock.ts';

/** In milliseconds. */
export interface WorkLimits {
  /** Of all tasks together before other callers of the process have theirs. */
  readonly turnMs: number;
  /** That one task may take. */
  readonly workMs: number;
  /** From the begin of a task; more than its own work, as others have their turns meanwhile. */
  readonly waitMs: number;
}

/** What a task has used up: its own work, or the time until its answer must be there. */
export type Exhausted = 'work' | 'wait';

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
 * what it has made. The steps of a task count as its work, the wait for others does not.
 */
export class WorkTurns {
  readonly #limits: WorkLimits;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #afterThisTurn: (next: () => void) => void;
  readonly #waiting: UnderWay[] = [];
  #now = 0;
  #usedMs = 0;
  #isPaused = false;

  constructor(
    limits: WorkLimits,
    clock: Pick<Clock, 'monotonic'>,
    afterThisTurn: (next: () => void) => void = setImmediate,
  ) {
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
    this.#now = this.#clock.monotonic();
    for (;;) {
      const before = this.#now;
      const goesOn = task.step();
      this.#now = this.#clock.monotonic();
      task.workedMs += this.#now - before;
      this.#usedMs += this.#now - before;
      if (!goesOn || this.#usedMs >= this.#limits.turnMs) return goesOn;
    }
  }

  #exhausted({ startedAt, workedMs }: UnderWay): Exhausted | undefined {
    if (workedMs >= this.#limits.workMs) return 'work';
    return this.#now - startedAt >= this.#limits.waitMs ? 'wait' : undefined;
  }
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
