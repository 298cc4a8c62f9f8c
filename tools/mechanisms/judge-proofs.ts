import type { Proof, Row } from './read-rows.ts';
import type { FileResults, TestResult } from './test-result.ts';
import type { WrittenTitles } from './written-titles.ts';

/** The last results of the tests named in all rows. */
export interface Verdict {
  /** Rows whose tests all passed. */
  readonly proven: number;
  readonly open: number;
  /** A named test that does not exist or failed. */
  readonly faults: readonly string[];
  /** A named test that was skipped, or whose file was not run since it changed: its result is unknown. */
  readonly unknown: readonly string[];
  /** Ids of rows that only tests of the night prove, which were not run here. */
  readonly nightly: readonly string[];
}

/** Judges the rows by the runner's own results (file, full title, passed), and by the titles in files without results. */
export function judgeProofs(
  rows: readonly Row[],
  results: ReadonlyMap<string, FileResults>,
  written: WrittenTitles = new Map(),
): Verdict {
  const named = rows.filter(({ proofs }) => proofs.length > 0);
  const judged = named.map(({ id, proofs }) => ({
    id,
    verdicts: proofs.map((proof) => judgeProof(proof, results, written)),
  }));
  const tell = (kind: 'fault' | 'unknown'): readonly string[] =>
    judged.flatMap(({ id, verdicts }) =>
      verdicts.filter((each) => each.kind === kind).map(({ text }) => `${id}: ${text}`),
    );
  return {
    proven: judged.filter(({ verdicts }) => isProven(verdicts)).length,
    open: rows.length - named.length,
    faults: tell('fault'),
    unknown: tell('unknown'),
    nightly: judged.filter(({ verdicts }) => verdicts.every(({ kind }) => kind === 'nightly')).map(({ id }) => id),
  };
}

/** Tests of the night repeat what others of the row prove. */
function isProven(verdicts: readonly ProofVerdict[]): boolean {
  return (
    verdicts.every(({ kind }) => kind === 'passed' || kind === 'nightly') &&
    verdicts.some(({ kind }) => kind === 'passed')
  );
}

interface ProofVerdict {
  readonly kind: 'passed' | 'fault' | 'unknown' | 'nightly';
  readonly text: string;
}

function judgeProof(
  { file, title }: Proof,
  results: ReadonlyMap<string, FileResults>,
  written: WrittenTitles,
): ProofVerdict {
  const noTest: ProofVerdict = { kind: 'fault', text: `${file} has no test "${title}"` };
  const run = results.get(file);
  if (run === undefined) {
    const isKnownToLack = written.get(file)?.every((each) => !mayStandFor(each, title)) ?? false;
    if (isKnownToLack) return noTest;
    return { kind: isNightly(file) ? 'nightly' : 'unknown', text: `${file} has not been run since it was changed` };
  }
  const tests = run.tests.filter((test) => titlePattern(title).test(test.title));
  return tests.length === 0 ? noTest : judgeOutcomes(tests, `"${title}" in ${file}`);
}

function isNightly(file: string): boolean {
  return file.endsWith('.nightly.test.ts');
}

const PLACEHOLDER = /%[sdifjoO#$]|\$\{[^}]*\}|\$[a-zA-Z.]+/;

/** Whether a title of the source can be the named one: either may have a placeholder where the other has text. */
function mayStandFor(written: string, named: string): boolean {
  const example = named.replaceAll('%s', 'x');
  return titlePattern(written, PLACEHOLDER).test(example) || titlePattern(named).test(written);
}

function judgeOutcomes(tests: readonly TestResult[], what: string): ProofVerdict {
  const outcomes = new Set(tests.map(({ outcome }) => outcome));
  if (outcomes.has('failed')) return { kind: 'fault', text: `${what} failed` };
  return outcomes.has('skipped') ? { kind: 'unknown', text: `${what} was skipped` } : { kind: 'passed', text: what };
}

/** Every case of a table: what stands for a placeholder is no further group. */
function titlePattern(title: string, placeholder: string | RegExp = '%s'): RegExp {
  const literal = title.split(placeholder).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('(?:(?! > ).)+')}$`, 's');
}
