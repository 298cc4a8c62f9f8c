/**
 * `npm run check:mechanisms`: every mechanism of the design sources, every threat and every case of a shortage has its row, and
 * every test that a row names passed when its file was run last, or at least stands in a file of the quick suite that was not
 * run since. With `--all`, a test that was skipped or not run is a fault too.
 */
import { existsSync, readFileSync } from 'node:fs';
import { judgeProofs } from './judge-proofs.ts';
import { readCases, readRows, readThreats, type Table } from './read-rows.ts';
import { loadResults } from './results-store.ts';
import { readWrittenTitles } from './written-titles.ts';

const TABLES: readonly (readonly [what: string, file: string, read: (markdown: string) => Table])[] = [
  ['mechanisms', 'docs/contributing/mechanisms.md', readRows],
  ['threats', 'docs/contributing/threats.md', readThreats],
  ['cases', 'docs/contributing/shortage-cases.md', readCases],
];

const results = loadResults();
const mustBeKnown = process.argv.includes('--all');
const tables = TABLES.map(([what, file, read]) => ({ what, file, ...read(readFileSync(file, 'utf8')) }));
const named = new Set(tables.flatMap(({ rows }) => rows.flatMap(({ proofs }) => proofs.map((proof) => proof.file))));
const written = readWrittenTitles([...named].filter((file) => !results.has(file)));
for (const file of named) {
  if (existsSync(file)) continue;
  console.error(`a row names ${file}, which does not exist`);
  process.exitCode = 1;
}
for (const { what, file, rows, faults } of tables) {
  const verdict = judgeProofs(rows, results, written);
  const wrong = [...faults, ...verdict.faults, ...(mustBeKnown ? verdict.unknown : [])];
  for (const each of wrong) console.error(`${file}: ${each}`);
  const byNight = verdict.nightly.length > 0 ? `, only by npm run test:nightly: ${verdict.nightly.join(', ')}` : '';
  const notKnown = verdict.unknown.length > 0 ? `, ${verdict.unknown.length} named tests not run here` : '';
  console.log(
    `${what}: ${rows.length} listed, ${verdict.proven} proven by the last runs, ${verdict.open} open${byNight}${notKnown}`,
  );
  if (wrong.length > 0) process.exitCode = 1;
}
