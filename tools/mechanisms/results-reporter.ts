import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { saveResults } from './results-store.ts';
import type { TestResult } from './test-result.ts';

/** A reporter of vitest that keeps the outcome of every test, for `npm run check:mechanisms`. */
export function resultsReporter(): Reporter {
  return { onTestModuleEnd: (module) => saveResults({ file: module.relativeModuleId, tests: resultsOf(module) }) };
}

function resultsOf(module: TestModule): readonly TestResult[] {
  return Array.from(module.children.allTests(), (test) => ({ title: test.fullName, outcome: outcomeOf(test) }));
}

function outcomeOf(test: TestCase): TestResult['outcome'] {
  const { state } = test.result();
  return state === 'pending' ? 'skipped' : state;
}
