/** The active mutant of the switched sources, in the process of the tests. */

/** One pass over the tests; mutants by their index. */
export interface MutationPass {
  readonly id: number;
  /** Mutants that need not be tried again. */
  readonly noticed: readonly number[];
  /** Only tests that take at most this long without a mutant are run with mutants, in milliseconds. */
  readonly least: number;
  readonly most: number;
  /** The time limit for all mutants together in one test, in milliseconds. */
  readonly budget: number;
}

/** The result of one run of a test. */
export interface TestRun {
  /** The active mutant; `undefined` for none. */
  readonly active: number | undefined;
  /** Mutants whose code ran. */
  readonly reached: ReadonlySet<number>;
  readonly calls: number;
  readonly ms: number;
}

/** Records what is reached, and ends a loop that a mutant would never leave. */
export class SwitchState {
  pass: MutationPass = { id: 0, noticed: [], least: 0, most: 0, budget: 0 };
  /** Mutants that some test noticed. */
  noticed = new Set<number>();
  /** Mutants whose code ran when no test did: while modules were loaded. */
  readonly reachedOutside = new Set<number>();
  #run:
    { active: number | undefined; reached: Set<number>; calls: number; most: number; startedAt: number } | undefined;

  /** Registers a loaded switched source. */
  begin(pass: MutationPass): void {
    if (pass.id === this.pass.id) return;
    this.pass = pass;
    this.noticed = new Set(pass.noticed);
    this.reachedOutside.clear();
  }

  /** Starts a test, with or without a mutant; more calls than `most` are an endless loop. */
  startRun(active: number | undefined, most: number): void {
    this.#run = { active, reached: new Set(), calls: 0, most, startedAt: performance.now() };
  }

  endRun(): TestRun | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run && { ...run, ms: performance.now() - run.startedAt };
  }

  /** Whether this mutant is active. */
  is(index: number): boolean {
    const run = this.#run;
    if (run === undefined) {
      this.reachedOutside.add(index);
      return false;
    }
    run.calls += 1;
    if (run.calls > run.most) throw new Error(`mutant ${String(run.active)} does not come to an end`);
    if (run.active === undefined) run.reached.add(index);
    return index === run.active;
  }
}
