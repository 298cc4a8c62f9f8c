/**
 * `npm run check:mechanisms`: every mechanism of the design sources has its row, and every test that a row names passed
 * when its file was run last. With `--all`, a test that was skipped or not run is a fault too.
 */
import { readFileSync } from 'node:fs';
import { judgeProofs } from './judge-proofs.ts';
import { readRows } from './read-rows.ts';
import { loadResults } from './results-store.ts';

const TABLE = 'docs/mechanisms.md';

const { rows, faults } = readRows(readFileSync(TABLE, 'utf8'));
const verdict = judgeProofs(rows, loadResults());
const mustBeKnown = process.argv.includes('--all');
const wrong = [...faults, ...verdict.faults, ...(mustBeKnown ? verdict.unknown : [])];
for (const each of wrong) console.error(`${TABLE}: ${each}`);
const notKnown = verdict.unknown.length > 0 ? `, ${verdict.unknown.length} named tests not run here` : '';
console.log(
  `mechanisms: ${rows.length} listed, ${verdict.proven} proven by the last runs, ${verdict.open} open${notKnown}`,
);
process.exitCode = wrong.length > 0 ? 1 : 0;
