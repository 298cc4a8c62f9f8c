/**
 * `npm run mutate -- SOURCES… [--tests TESTS…]`, each a file or a folder: puts one small mistake at a time into the
 * sources and runs the tests that load them, the nearest first, until one fails. Prints the mutants that survive, and
 * how many were noticed.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { repositoryModules } from '#tools/reach/repository-modules.ts';
import { createRunner } from './start-runner.ts';
import { testFilesOf } from './test-files-of.ts';
import { tryMutants, type Fate } from './try-mutants.ts';

/** Tests of the decisions themselves; tests that start processes would take hours for some hundred mutants. */
const USUAL_TESTS = ['test/shared', 'test/conformance', 'test/agent/decide', 'test/shared/api/node-pressure-policy'];
const USAGE_EXIT_CODE = 2;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', multiple: true, default: USUAL_TESTS } },
});
if (positionals.length === 0) {
  console.error('usage: npm run mutate -- SOURCES… [--tests TESTS…]');
  process.exit(USAGE_EXIT_CODE);
}
const sources = filesIn(positionals, '**/*.ts');
const tests = filesIn(values.tests, '**/*.test.ts').filter((file) => !file.endsWith('.long.test.ts'));
const testsOf = testFilesOf(sources, tests, repositoryModules());
const runner = createRunner();
const fates: Fate[] = [];
await tryThem();
const noticed = fates.filter(isNoticed).length;
console.log(`${noticed} of ${fates.length} mutants noticed: ${((100 * noticed) / fates.length).toFixed(1)} %`);

async function tryThem(): Promise<void> {
  const texts = sources.map((file) => ({ file, text: readFileSync(file, 'utf8'), groups: testsOf.get(file) ?? [] }));
  try {
    for await (const fate of tryMutants(texts, runner)) {
      fates.push(fate);
      if (!isNoticed(fate)) console.log(describe(fate));
    }
  } finally {
    runner.stop();
  }
}

function isNoticed({ kind }: Fate): boolean {
  return kind === 'failed' || kind === 'timedOut';
}

function describe({ kind, mutant: { file, line, from, to } }: Fate): string {
  return `${file}:${line}: ${from.replace(/\s+/g, ' ')} → ${to}${kind === 'notLoaded' ? ' (no test loads it)' : ''}`;
}

function filesIn(places: readonly string[], pattern: string): readonly string[] {
  return places.flatMap((place) => (place.endsWith('.ts') ? [place] : globSync(`${place}/${pattern}`))).sort();
}
