// failures.mjs failed|flaky REPORT [SECOND-RUN]: prints the name and the message of each test that failed, or that failed once.
import { failedTests, judge } from './report.mjs';

const [which, ...paths] = process.argv.slice(2);
const title = which.toUpperCase();
for (const file of judge(...paths)[which]) {
  const tests = failedTests(file);
  for (const test of tests)
    console.log(`${title}: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 3000)}`);
  if (tests.length === 0) console.log(`${title}: ${file.name.split('/test/').at(-1)}\n${file.message}`);
}
