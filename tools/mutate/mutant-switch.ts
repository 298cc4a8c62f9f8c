/** Which mutant of the switched sources is made just now, in the process of the tests. */

/** One pass over the tests; mutants by their index. */
export interface Pass {
  readonly id: number;
  /** Mutants that need not be tried any more. */
  readonly noticed: readonly number[];
  /** Only tests that take so long without a mutant are tried with them, in milliseconds. */
  readonly least: number;
  readonly most: number;
  /** What all mutants together may take of one test, in milliseconds. */
  readonly budget: number;
}

/** What a run of one test comes to. */
export interface TestRun {
  /** The mutant in the place of the source; `undefined` for none. */
  readonly active: number | undefined;
  /** Mutants whose code ran. */
  readonly reached: ReadonlySet<number>;
  readonly calls: number;
  readonly ms: number;
}

/** Keeps count of what is reached, and ends a loop that a mutant would never leave. */
export class SwitchState {
  pass: Pass = { id: 0, noticed: [], least: 0, most: 0, budget: 0 };
  /** Mutants that some test noticed. */
  noticed = new Set<number>();
  /** Mutants whose code ran when no test did: while modules were loaded. */
  readonly reachedOutside = new Set<number>();
  #run:
    { active: number | undefined; reached: Set<number>; calls: number; most: number; startedAt: number } | undefined;

  /** A switched source is loaded. */
  begin(pass: Pass): void {
    if (pass.id === this.pass.id) return;
    this.pass = pass;
    this.noticed = new Set(pass.noticed);
    this.reachedOutside.clear();
  }

  /** From now on a test runs, with a mutant or none; more calls than `most` are a loop without end. */
  startRun(active: number | undefined, most: number): void {
    this.#run = { active, reached: new Set(), calls: 0, most, startedAt: performance.now() };
  }

  endRun(): TestRun | undefined {
    const run = this.#run;
    this.#run = undefined;
    return run && { ...run, ms: performance.now() - run.startedAt };
  }

  /** Whether the mistake of this mutant is made. */
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
