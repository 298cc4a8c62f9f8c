// count.mjs REPORT [SECOND-RUN]: prints "PASSED FAILED SKIPPED FLAKY" of the tests of a suite.
import { failureCount, judge } from './report.mjs';

const { report, failed, flaky } = judge(...process.argv.slice(2));
const sum = (files) => files.reduce((total, file) => total + failureCount(file), 0);
const { numPassedTests, numPendingTests, numTodoTests } = report;
console.log(`${numPassedTests + sum(flaky)} ${sum(failed)} ${numPendingTests + numTodoTests} ${sum(flaky)}`);
