import type { Pass, TestRun } from './mutant-switch.ts';

/** What is still to be tried with one test. */
export interface TestPlan {
  /** The mutant of the next run; `undefined` for the source as it is. */
  readonly active: number | undefined;
  /** A mutant that the test noticed, if it passes once more without: else it fails by itself. */
  readonly suspected: number | undefined;
  readonly waiting: readonly number[];
  /** How often the source itself was tried before any mutant. */
  readonly tries: number;
  /** How often the source asks which mutant it is. */
  readonly calls: number;
  /** How long the source alone takes. */
  readonly ms: number;
  /** What its mutants took so far. */
  readonly spentMs: number;
}

/** The next plan, if there is one; mutants that were noticed; whether the test fails without a mutant. */
export interface Step {
  readonly next?: TestPlan;
  readonly noticed?: number;
  readonly unusable?: true;
}

/** A test starts with the source as it is. */
export const FIRST_PLAN: TestPlan = {
  active: undefined,
  suspected: undefined,
  waiting: [],
  tries: 0,
  calls: 0,
  ms: 0,
  spentMs: 0,
};

/** How often a test may fail at first, where it measures time on a busy machine. */
const MAX_TRIES = 2;

/** What the plan depends on in addition to the test. */
export interface Standing {
  readonly pass: Pass;
  readonly noticed: ReadonlySet<number>;
}

/** What follows from a run: first the source alone, then each mutant that it reached and nothing noticed so far. */
export function stepAfter(plan: TestPlan, run: TestRun, passed: boolean, standing: Standing): Step {
  if (plan.active !== undefined) return afterMutant({ ...plan, spentMs: plan.spentMs + run.ms }, passed, standing.pass);
  if (plan.suspected !== undefined) return afterCheck(plan, plan.suspected, passed, standing.pass);
  if (!passed) return plan.tries + 1 < MAX_TRIES ? { next: { ...plan, tries: plan.tries + 1 } } : { unusable: true };
  return go({ ...plan, calls: run.calls, ms: run.ms, waiting: waitingAfter(run, standing) }, standing.pass);
}

function waitingAfter({ ms, reached }: TestRun, { pass, noticed }: Standing): readonly number[] {
  return ms < pass.least || ms >= pass.most ? [] : [...reached].filter((index) => !noticed.has(index));
}

function afterMutant(plan: TestPlan, passed: boolean, pass: Pass): Step {
  return passed ? go(plan, pass) : { next: { ...plan, active: undefined, suspected: plan.active } };
}

function afterCheck(plan: TestPlan, suspected: number, passed: boolean, pass: Pass): Step {
  return passed ? { ...go({ ...plan, suspected: undefined }, pass), noticed: suspected } : { unusable: true };
}

function go(plan: TestPlan, { budget }: Pass): Step {
  const [active, ...waiting] = plan.waiting;
  return active === undefined || plan.spentMs > budget ? {} : { next: { ...plan, active, waiting } };
}
