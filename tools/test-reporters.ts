import type { ViteUserConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { resultsReporter } from './mechanisms/results-reporter.ts';

type Reporters = NonNullable<NonNullable<ViteUserConfig['test']>['reporters']>;

/**
 * What every suite reports to: people, the check of docs/mechanisms.md, and the JSON file that a caller asks for. Such a
 * caller counts the failed tests in that file, so the exit code is left to what else fails: an error outside the tests,
 * a coverage threshold, the teardown.
 */
export function testReporters(env: NodeJS.ProcessEnv): Reporters {
  const outputFile = env['PLIMSOLL_TEST_REPORT'];
  const always = ['default', resultsReporter()] as const;
  return outputFile === undefined ? [...always] : [...always, ['json', { outputFile }], exitCodeOfTheRest];
}

/** The code is 1 for failed tests before reporters hear of them; whatever fails later in a run sets it again. */
const exitCodeOfTheRest: Reporter = {
  onTestRunEnd: (_, unhandledErrors, reason) => {
    if (reason === 'failed' && unhandledErrors.length === 0) process.exitCode = 0;
  },
};
