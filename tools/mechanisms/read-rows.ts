/** A mechanism of the design sources, and the tests that prove it; none if it is open. */
export interface Row {
  readonly id: string;
  readonly proofs: readonly Proof[];
}

export interface Proof {
  readonly file: string;
  /** As the runner prints it, with `%s` for whatever a table of cases puts there. */
  readonly title: string;
}

const EXPECTED_IDS = { S0: 32, S1: 33, S2: 38, S3: 49, S4: 15 } as const;

/** The rows of a table, and its mistakes. */
export interface Table {
  readonly rows: readonly Row[];
  readonly faults: readonly string[];
}

/** The rows of docs/contributing/mechanisms.md. */
export function readRows(markdown: string): Table {
  const rows = [...markdown.matchAll(/^\| (S\d-\d+) \|.*\| ([^|]+) \|$/gm)].map(readMatch);
  return { rows: rows.map(({ row }) => row), faults: [...missingIds(rows), ...rows.flatMap(({ faults }) => faults)] };
}

/** The rows of docs/contributing/threats.md: one for each threat, each with an id of its own. */
export function readThreats(markdown: string): Table {
  return readNumbered(markdown, /^\| (T-\d+) +\|.*\| ([^|]+) \|$/gm);
}

/** The rows of docs/contributing/shortage-cases.md: one for each case of a shortage, each with an id of its own. */
export function readCases(markdown: string): Table {
  return readNumbered(markdown, /^\| (C-\d+) +\|.*\| ([^|]+) \|$/gm);
}

function readNumbered(markdown: string, pattern: RegExp): Table {
  const rows = [...markdown.matchAll(pattern)].map(readMatch);
  const ids = rows.map(({ row }) => row.id);
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: has two rows`);
  const missing = rows.length === 0 ? ['has no row'] : [];
  return {
    rows: rows.map(({ row }) => row),
    faults: [...missing, ...doubled, ...rows.flatMap(({ faults }) => faults)],
  };
}

function readMatch([, id = '', proof = '']: RegExpMatchArray): ReturnType<typeof readRow> {
  return readRow(id, proof.trim());
}

/** A proof is `file` › title, several joined by `; `. */
function readRow(id: string, proof: string): { readonly row: Row; readonly faults: readonly string[] } {
  const parts = proof === 'open' ? [] : proof.split('; ');
  const read = parts.map((part) => /^`(?<file>[^`]+)` › (?<title>.+)$/.exec(part)?.groups as Proof | undefined);
  const faults = parts
    .filter((_, index) => read[index] === undefined)
    .map((part) => `${id}: "${part}" is not \`file\` › title`);
  return { row: { id, proofs: read.filter((each) => each !== undefined) }, faults };
}

function missingIds(rows: readonly { readonly row: Row }[]): readonly string[] {
  const present = new Set(rows.map(({ row }) => row.id));
  const expected = Object.entries(EXPECTED_IDS).flatMap(([source, count]) =>
    Array.from({ length: count }, (_, index) => `${source}-${index + 1}`),
  );
  return expected.filter((id) => !present.has(id)).map((id) => `${id}: has no row`);
}
