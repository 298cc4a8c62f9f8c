/** A mechanism of the design sources, and the tests that prove it; none where it is open. */
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

/** The rows of docs/mechanisms.md, or what is wrong with them. */
export function readRows(markdown: string): { readonly rows: readonly Row[]; readonly faults: readonly string[] } {
  const cells = [...markdown.matchAll(/^\| (S\d-\d+) \|.*\| ([^|]+) \|$/gm)];
  const rows = cells.map(([, id = '', proof = '']) => readRow(id, proof.trim()));
  return { rows: rows.map(({ row }) => row), faults: [...missingIds(rows), ...rows.flatMap(({ faults }) => faults)] };
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
