// Prints "PASSED FAILED SKIPPED" of one vitest JSON report: tests, plus one failure for each file that failed without a failed test: it could not
// be run, or a hook failed and its tests were skipped.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = report;
console.log(`${numPassedTests} ${numFailedTests + brokenFiles.length} ${numPendingTests + numTodoTests}`);
