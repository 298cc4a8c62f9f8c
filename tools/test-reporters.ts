import type { ViteUserConfig } from 'vitest/config';
import { resultsReporter } from './mechanisms/results-reporter.ts';

type Reporters = NonNullable<NonNullable<ViteUserConfig['test']>['reporters']>;

/** What every suite reports to: people, the check of docs/mechanisms.md, and the JSON file that a caller asks for. */
export function testReporters(env: NodeJS.ProcessEnv): Reporters {
  const outputFile = env['PLIMSOLL_TEST_REPORT'];
  const always = ['default', resultsReporter()] as const;
  return outputFile === undefined ? [...always] : [...always, ['json', { outputFile }]];
}
