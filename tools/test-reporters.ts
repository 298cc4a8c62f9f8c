import { readFileSync, writeFileSync } from 'node:fs';
import type { ViteUserConfig } from 'vitest/config';
import { JsonReporter, type JsonTestResults, type Reporter, type TestModule } from 'vitest/node';
import { resultsReporter } from './mechanisms/results-reporter.ts';

type Reporters = NonNullable<NonNullable<ViteUserConfig['test']>['reporters']>;

/**
 * The reporters of every suite: for people, for the check of docs/contributing/mechanisms.md, and the JSON file that a caller
 * requests. Such a caller counts the failed tests in that file, so the exit code covers only other failures: an error
 * outside the tests, a coverage threshold, the teardown.
 */
export function testReporters(env: NodeJS.ProcessEnv): Reporters {
  const outputFile = env['PLIMSOLL_TEST_REPORT'];
  const always = ['default', resultsReporter()] as const;
  return outputFile === undefined ? [...always] : [...always, new ReportOfHooks({ outputFile }), exitCodeOfTheRest];
}

/** The JSON report of vitest, with the message of a failed hook, which vitest leaves out. */
class ReportOfHooks extends JsonReporter {
  override async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    await super.onTestRunEnd(modules);
    const { outputFile = '' } = this.options;
    const report = JSON.parse(readFileSync(outputFile, 'utf8')) as JsonTestResults;
    const failures = new Map(modules.map((module) => [module.moduleId, failuresOfHooks(module)]));
    for (const file of report.testResults) file.message ||= failures.get(file.name) ?? '';
    writeFileSync(outputFile, JSON.stringify(report));
  }
}

function failuresOfHooks({ children }: TestModule): string {
  const errors = [...children.allSuites()].flatMap((suite) => suite.errors());
  return errors.map(({ stack, message }) => stack ?? message).join('\n');
}

/** The code is 1 for failed tests before reporters hear of them; whatever fails later in a run sets it again. */
const exitCodeOfTheRest: Reporter = {
  onTestRunEnd: (_, unhandledErrors, reason) => {
    if (reason === 'failed' && unhandledErrors.length === 0) process.exitCode = 0;
  },
};
