import { listMutants, type Mutant } from './list-mutants.ts';
import type { MutationPass } from './mutant-switch.ts';
import type { RunnerOutcome } from './runner.ts';
import type { Runner } from './start-runner.ts';
import { switchedSource } from './switched-source.ts';

/** The result of a mutant; a mutant that never ends counts as detected, like one that fails. */
export interface Fate {
  readonly mutant: Mutant;
  readonly kind: 'failed' | 'timedOut' | 'survived' | 'notLoaded';
}

/** A source, and the test files that load it: the nearest first, those of a group at once. */
export interface MutatedSource {
  readonly file: string;
  readonly text: string;
  readonly groups: readonly (readonly string[])[];
}

/** A single mutant is tried with the nearest tests: distant ones take seconds, and detect it late. */
const NEAR_GROUPS = 2;

/** The time limit of one mutant, and of a pass over all of them. */
const MAX_MS_LENGTH = { single: 120_000, pass: 1_800_000 };

/** Quick tests first: few mutants are left for the slow ones. In milliseconds. */
const PASSES: readonly Omit<MutationPass, 'noticed'>[] = [
  { id: 1, least: 0, most: 50, budget: 60_000 },
  { id: 2, least: 50, most: 1e9, budget: 8000 },
];

interface Tried {
  readonly noticed: readonly number[];
  readonly reachedOutside: readonly number[];
}

/**
 * Tries every mutant of some sources: all of them behind a switch, so that the tests are loaded once, then individually
 * those that are used while modules are loaded. A test that fails without any mutant detects none.
 */
export async function* tryMutants(sources: readonly MutatedSource[], runner: Runner): AsyncGenerator<Fate> {
  const mutants = sources.map(({ file, text }) => listMutants(file, text));
  let tried: Tried = { noticed: [], reachedOutside: [] };
  for (const pass of PASSES) {
    const outcome = await runner.run(
      {
        texts: switchedTexts(mutants, { ...pass, noticed: tried.noticed }),
        tests: testsOf(sources),
        untilOneFails: false,
      },
      MAX_MS_LENGTH.pass,
    );
    if (outcome === 'timedOut') throw new Error(`cannot try all mutants within ${MAX_MS_LENGTH.pass} ms`);
    for (const failed of outcome.failed) console.log(`# fails without any mutant: ${failed}`);
    tried = both(tried, outcome);
  }
  const alone: [Mutant, MutatedSource['groups']][] = [];
  for (const [index, mutant] of mutants.flat().entries()) {
    const groups = sources.find(({ file }) => file === mutant.file)?.groups ?? [];
    const kind = groups.length === 0 ? 'notLoaded' : fateBySwitch(index, tried);
    if (kind === undefined) alone.push([mutant, groups]);
    else yield { mutant, kind };
  }
  for (const [mutant, groups] of alone) yield { mutant, kind: await fateAlone(mutant, groups, runner) };
}

/** Test files that load any of the sources, the nearest to one of them first. */
function testsOf(sources: readonly MutatedSource[]): readonly string[] {
  return [...new Set([0, 1, 2].flatMap((far) => sources.flatMap(({ groups }) => groups[far] ?? [])))];
}

function switchedTexts(mutants: readonly (readonly Mutant[])[], pass: MutationPass): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  let first = 0;
  for (const each of mutants) {
    const [mutant] = each;
    if (mutant === undefined) continue;
    const source = mutant.change.node.getSourceFile();
    const changes = each.map(({ change }) => change);
    texts[mutant.file] = `mutants.begin(${JSON.stringify(pass)});${switchedSource(source, changes, first)}`;
    first += each.length;
  }
  return texts;
}

function both(left: Tried, right: Tried): Tried {
  return {
    noticed: [...new Set([...left.noticed, ...right.noticed])],
    reachedOutside: [...new Set([...left.reachedOutside, ...right.reachedOutside])],
  };
}

function fateBySwitch(index: number, tried: Tried): Fate['kind'] | undefined {
  if (tried.noticed.includes(index)) return 'failed';
  return tried.reachedOutside.includes(index) ? undefined : 'survived';
}

async function fateAlone(
  { file, text }: Mutant,
  groups: MutatedSource['groups'],
  runner: Runner,
): Promise<Fate['kind']> {
  for (const tests of groups.slice(0, NEAR_GROUPS)) {
    const outcome: RunnerOutcome | 'timedOut' = await runner.run(
      { texts: { [file]: text }, tests, untilOneFails: true },
      MAX_MS_LENGTH.single,
    );
    if (outcome === 'timedOut') return 'timedOut';
    if (outcome.failed.length > 0) return 'failed';
  }
  return 'survived';
}
