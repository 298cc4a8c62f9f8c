// Reads JSON reports of vitest runs: that of a suite and that of the second run of its failed files.
import { existsSync, readFileSync } from 'node:fs';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const isFailed = (file) => file.status === 'failed';
export const failedTests = (file) => file.assertionResults.filter((test) => test.status === 'failed');
// A file that could not be run, or a hook that failed, counts as one failure.
export const failureCount = (file) => failedTests(file).length || 1;

// `flaky`: failed files all of whose tests passed in the second run; `failed`: the others.
export function judge(path, again) {
  const report = read(path);
  const second = again && existsSync(again) ? read(again).testResults : [];
  const passedAgain = new Set(
    second.filter((file) => !isFailed(file) && file.assertionResults.length > 0).map(({ name }) => name),
  );
  const failed = report.testResults.filter(isFailed);
  return {
    report,
    flaky: failed.filter(({ name }) => passedAgain.has(name)),
    failed: failed.filter(({ name }) => !passedAgain.has(name)),
  };
}
