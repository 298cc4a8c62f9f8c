import { listMutants, type Mutant } from './list-mutants.ts';
import type { Runner } from './start-runner.ts';

/** What became of a mutant; one that never ends is noticed like one that fails. */
export interface Fate {
  readonly mutant: Mutant;
  readonly kind: 'failed' | 'timedOut' | 'survived' | 'notLoaded';
}

/** Test files in the order in which they are tried, those of a group at once. */
export type TestGroups = readonly (readonly string[])[];

/** A mutant that takes so much longer than its source never ends. */
const LONGER = { times: 10, ms: 20_000 };

/** What the tests of a source may take as it is. */
const LONGEST_MS = 600_000;

/** Tries every mutant of a source, one after the other. Rejects where the tests fail without any. */
export async function* tryMutants(
  file: string,
  text: string,
  groups: TestGroups,
  runner: Runner,
): AsyncGenerator<Fate> {
  const limits = await measure({ file, text }, groups, runner);
  for (const mutant of listMutants(file, text)) yield { mutant, kind: await fateOf(mutant, groups, limits, runner) };
}

/** How long each group may take with a mutant, in milliseconds. */
async function measure(
  source: Pick<Mutant, 'file' | 'text'>,
  groups: TestGroups,
  runner: Runner,
): Promise<readonly number[]> {
  const limits: number[] = [];
  for (const tests of groups) {
    const startedAt = performance.now();
    const outcome = await runner.run({ ...source, tests }, LONGEST_MS);
    if (outcome === 'timedOut' || outcome.failed !== undefined) {
      throw new Error(`cannot mutate ${source.file}: its tests fail as it is: ${JSON.stringify(outcome)}`);
    }
    limits.push(LONGER.ms + LONGER.times * (performance.now() - startedAt));
  }
  return limits;
}

async function fateOf(
  { file, text }: Mutant,
  groups: TestGroups,
  limits: readonly number[],
  runner: Runner,
): Promise<Fate['kind']> {
  for (const [index, tests] of groups.entries()) {
    const outcome = await runner.run({ file, text, tests }, limits[index] ?? LONGER.ms);
    if (outcome === 'timedOut') return 'timedOut';
    if (outcome.failed !== undefined) return 'failed';
  }
  return groups.length === 0 ? 'notLoaded' : 'survived';
}
