/** `npm run check:mechanisms`: every mechanism of the design sources has its row, and every test a row names exists. */
import { existsSync, readFileSync } from 'node:fs';

const TABLE = 'docs/mechanisms.md';
const EXPECTED_IDS = { S0: 32, S1: 33, S2: 38, S3: 49, S4: 15 } as const;

interface Row {
  readonly id: string;
  readonly proof: string;
}

function readRows(markdown: string): Row[] {
  const rows = markdown.matchAll(/^\| (S\d-\d+) \|.*\| ([^|]+) \|$/gm);
  return [...rows].map(([, id = '', proof = '']) => ({ id, proof: proof.trim() }));
}

function missingIds(rows: readonly Row[]): string[] {
  const present = new Set(rows.map((row) => row.id));
  const expected = Object.entries(EXPECTED_IDS).flatMap(([seed, count]) =>
    Array.from({ length: count }, (_, index) => `${seed}-${index + 1}`),
  );
  return expected.filter((id) => !present.has(id)).map((id) => `${id}: has no row`);
}

/** A proof is `file` › title, several joined by `; `. */
function brokenProofs({ id, proof }: Row): string[] {
  if (proof === 'open') return [];
  return proof.split('; ').flatMap((part) => {
    const [, file, title] = /^`([^`]+)` › (.+)$/.exec(part) ?? [];
    if (file === undefined || title === undefined) return [`${id}: "${part}" is not \`file\` › title`];
    if (!existsSync(file)) return [`${id}: ${file} does not exist`];
    return readFileSync(file, 'utf8').includes(title) ? [] : [`${id}: ${file} has no test "${title}"`];
  });
}

const rows = readRows(readFileSync(TABLE, 'utf8'));
const faults = [...missingIds(rows), ...rows.flatMap(brokenProofs)];
for (const fault of faults) console.error(`${TABLE}: ${fault}`);
const proven = rows.filter((row) => row.proof !== 'open').length;
console.log(`mechanisms: ${rows.length} listed, ${proven} proven, ${rows.length - proven} open`);
process.exitCode = faults.length > 0 ? 1 : 0;
