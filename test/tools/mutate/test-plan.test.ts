import { describe, expect, test } from 'vitest';
import type { MutationPass } from '#tools/mutate/mutant-switch.ts';
import { FIRST_PLAN, stepAfter, type TestPlan } from '#tools/mutate/test-plan.ts';

const PASS: MutationPass = { id: 1, noticed: [], least: 0, most: 50, budget: 100 };

/** A run of ten milliseconds that reaches mutants 1, 2 and 3. */
function run(active: number | undefined, ms = 10) {
  return { active, reached: new Set([1, 2, 3]), calls: 5, ms };
}

/** What is run, and noticed, by a test that fails for some mutants. */
function course(failsFor: readonly (number | undefined)[], pass = PASS, ms = 10) {
  const runs: (number | undefined)[] = [];
  const noticed = new Set([3]);
  let plan: TestPlan | undefined = FIRST_PLAN;
  while (plan !== undefined) {
    const { active }: TestPlan = plan;
    runs.push(active);
    const step = stepAfter(plan, run(active, ms), !failsFor.includes(active), { pass, noticed });
    if (step.noticed !== undefined) noticed.add(step.noticed);
    if (step.unusable === true) return { runs, noticed: [...noticed], isUnusable: true };
    plan = step.next;
  }
  return { runs, noticed: [...noticed], isUnusable: false };
}

describe('the runs of one test', () => {
  test('are the source, then each mutant that it reaches and no test noticed', () => {
    expect(course([])).toEqual({ runs: [undefined, 1, 2], noticed: [3], isUnusable: false });
  });

  test('a failure counts once the source passes again', () => {
    expect(course([1])).toEqual({ runs: [undefined, 1, undefined, 2], noticed: [3, 1], isUnusable: false });
  });

  test('a test that fails by itself notices nothing', () => {
    expect(course([undefined, 1])).toEqual({ runs: [undefined, undefined], noticed: [3], isUnusable: true });
  });

  test('a test that is too slow or too quick for the pass is left to another', () => {
    expect(course([1], PASS, 50).runs).toEqual([undefined]);
    expect(course([1], { ...PASS, least: 11 }).runs).toEqual([undefined]);
  });

  test('end with the time that mutants may take', () => {
    expect(course([], { ...PASS, budget: 9 }).runs).toEqual([undefined, 1]);
  });
});
