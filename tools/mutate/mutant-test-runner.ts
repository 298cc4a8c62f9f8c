/** Runs each test first as it is, then once for every mutant that it reaches, within one process. */
import fc from 'fast-check';
import { TestRunner, type RunnerTestCase, type TestTryOptions } from 'vitest';
import { SwitchState } from './mutant-switch.ts';
import { FIRST_PLAN, stepAfter, type TestPlan } from './test-plan.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The results of the source's mutants so far. */
    mutants?: MutantReport;
  }
}

/** By index. */
export interface MutantReport {
  readonly noticed: readonly number[];
  readonly reachedOutside: readonly number[];
}

const state = new SwitchState();
// Where the switched sources find it.
Object.assign(globalThis, { mutants: state });
// The smallest failing input does not matter here.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

/** A mutant that makes this many times more calls than its source is in a loop. */
const LONGER = { times: 20, calls: 100_000, ms: 1_000 };

/** Without an error nothing is tried again. */
const AGAIN = { message: 'the next run follows' };

class MutantTestRunner extends TestRunner {
  #plan: TestPlan = FIRST_PLAN;
  #passed = false;

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    // Every run but the last counts as a failure that is retried.
    test.retry = Number.MAX_SAFE_INTEGER;
    this.#plan = FIRST_PLAN;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    const { active, calls } = this.#plan;
    this.#passed = false;
    state.startRun(active, active === undefined ? Infinity : LONGER.calls + LONGER.times * calls);
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    try {
      const ended = Promise.resolve(TestRunner.getTestFn(test)()).then(() => true);
      this.#passed = await (this.#plan.active === undefined ? ended : Promise.race([ended, this.#tooLate()]));
    } catch {
      // A mutant may fail in any way.
    }
  }

  /** A mutant may wait for something that never comes. */
  #tooLate(): Promise<boolean> {
    const ms = LONGER.ms + LONGER.times * this.#plan.ms;
    return new Promise((resolve) => setTimeout(resolve, ms, false).unref());
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const run = state.endRun();
    if (run === undefined || test.result === undefined) return;
    const passed = this.#passed && test.result.state !== 'fail';
    const step = stepAfter(this.#plan, run, passed, state);
    if (step.noticed !== undefined) state.noticed.add(step.noticed);
    if (step.next === undefined) endTest(test, step.unusable === true);
    else test.result = { ...test.result, state: 'fail', errors: [AGAIN] };
    this.#plan = step.next ?? FIRST_PLAN;
  }
}

function endTest(test: RunnerTestCase, failed: boolean): void {
  if (failed) test.retry = 0;
  if (test.result !== undefined) test.result = { ...test.result, state: failed ? 'fail' : 'pass', errors: [] };
  test.meta.mutants = { noticed: [...state.noticed], reachedOutside: [...state.reachedOutside] };
}

export { MutantTestRunner as default };
