/**
 * 100,000 creates against the sandbox API server while one of five webhook processes is killed every 1 to 3 s, checked
 * against every revision of the history (`npm run bench -- ledger-faults [CREATES] [SEED]`). JSON on stdout; exit code 1
 * when a law was broken or `used` did not become the truth again within 180 s.
 */
import { loadavg } from 'node:os';
import { runFaults } from '#test/webhook/quota/faults/run-faults.ts';

const [creates = '100000', seed = '1'] = process.argv.slice(2);
const options = {
  seed: Number(seed),
  replicas: 5,
  creates: Number(creates),
  concurrency: 64,
  reservationSeconds: 120,
  sliceAfterSeconds: 4,
};
const { verdict, ...report } = await runFaults(options);
const isMet =
  verdict.violations.length === 0 && report.storedDryRuns === 0 && (report.healedAfterSeconds ?? Infinity) <= 180;
const machine = { loadAverage: loadavg()[0], node: process.version };
console.log(JSON.stringify({ bench: 'ledger-faults', machine, ...report, verdict, isMet }, null, 2));
process.exitCode = isMet ? 0 : 1;
