// Prints "PASSED FAILED SKIPPED" of one vitest JSON report: tests, plus one failure for each file that could not be run.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const brokenFiles = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);
const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = report;
console.log(`${numPassedTests} ${numFailedTests + brokenFiles.length} ${numPendingTests + numTodoTests}`);
