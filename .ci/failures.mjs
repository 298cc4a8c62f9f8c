// Prints the name and the message of each failed test in the JSON report of a vitest run.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const file of report.testResults) {
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  for (const test of failed) console.log(`FAILED: ${test.fullName}\n${test.failureMessages.join('\n').slice(0, 3000)}`);
  if (file.status === 'failed' && failed.length === 0)
    console.log(`FAILED: ${file.name.split('/test/').at(-1)}\n${file.message}`);
}
