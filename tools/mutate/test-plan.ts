import type { MutationPass, TestRun } from './mutant-switch.ts';

/** The remaining runs of one test. */
export interface TestPlan {
  /** The mutant of the next run; `undefined` for the unchanged source. */
  readonly active: number | undefined;
  /** A mutant that the test detected, if the test then passes without it; otherwise the test fails on its own. */
  readonly suspected: number | undefined;
  readonly waiting: readonly number[];
  /** How often the source itself was run before any mutant. */
  readonly tries: number;
  /** How many switch calls the source makes. */
  readonly calls: number;
  /** How long the source alone takes. */
  readonly ms: number;
  /** The time of its mutants so far. */
  readonly spentMs: number;
}

/** The next plan, if there is one; the detected mutants; whether the test fails without a mutant. */
export interface Step {
  readonly next?: TestPlan;
  readonly noticed?: number;
  readonly unusable?: true;
}

/** A test starts with the unchanged source. */
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
  readonly pass: MutationPass;
  readonly noticed: ReadonlySet<number>;
}

/** The plan after a run: first the source alone, then each reached mutant that no test has detected so far. */
export function stepAfter(plan: TestPlan, run: TestRun, passed: boolean, standing: Standing): Step {
  if (plan.active !== undefined) return afterMutant({ ...plan, spentMs: plan.spentMs + run.ms }, passed, standing.pass);
  if (plan.suspected !== undefined) return afterCheck(plan, plan.suspected, passed, standing.pass);
  if (!passed) return plan.tries + 1 < MAX_TRIES ? { next: { ...plan, tries: plan.tries + 1 } } : { unusable: true };
  return go({ ...plan, calls: run.calls, ms: run.ms, waiting: waitingAfter(run, standing) }, standing.pass);
}

function waitingAfter({ ms, reached }: TestRun, { pass, noticed }: Standing): readonly number[] {
  return ms < pass.least || ms >= pass.most ? [] : [...reached].filter((index) => !noticed.has(index));
}

function afterMutant(plan: TestPlan, passed: boolean, pass: MutationPass): Step {
  return passed ? go(plan, pass) : { next: { ...plan, active: undefined, suspected: plan.active } };
}

function afterCheck(plan: TestPlan, suspected: number, passed: boolean, pass: MutationPass): Step {
  return passed ? { ...go({ ...plan, suspected: undefined }, pass), noticed: suspected } : { unusable: true };
}

function go(plan: TestPlan, { budget }: MutationPass): Step {
  const [active, ...waiting] = plan.waiting;
  return active === undefined || plan.spentMs > budget ? {} : { next: { ...plan, active, waiting } };
}
