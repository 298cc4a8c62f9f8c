// Prints the path of each file that failed in the JSON report of a vitest run, one per line.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const file of report.testResults) if (file.status === 'failed') console.log(file.name);
