// Prints the seconds that each file of the JSON report of a vitest run took, one file per line.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const { name, startTime, endTime } of report.testResults) {
  const seconds = Math.round((endTime - startTime) / 1000);
  console.log(`${String(seconds).padStart(4)} s  ${name.split('/test/').at(-1)}`);
}
