/** A process that runs test files with one active mutant at a time; controlled by messages. */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BaseSequencer,
  createVitest,
  type CliOptions,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import type {} from './mutant-test-runner.ts';

/** What to run: the texts replace the files of that name until the next order. */
export interface Order {
  readonly texts: Readonly<Record<string, string>>;
  readonly tests: readonly string[];
  /** Whether to stop at the first failing test. */
  readonly untilOneFails: boolean;
}

/** The results; mutants by their index. */
export interface RunnerOutcome {
  /** Tests that failed without a mutant (or with the one that is the text), by file and title. */
  readonly failed: readonly string[];
  readonly noticed: readonly number[];
  /** Mutants whose code ran outside of tests, too. */
  readonly reachedOutside: readonly number[];
}

const present: { order?: Order } = {};

/** Passes the mutants to the loader of their sources. */
const mutantPlugin = {
  name: 'mutant',
  enforce: 'pre' as const,
  transform: (_: string, id: string): string | undefined => present.order?.texts[relative(process.cwd(), id)],
};

/** The nearest test files come first. */
class InTheOrderGiven extends BaseSequencer {
  override sort = (files: TestSpecification[]): Promise<TestSpecification[]> => Promise.resolve(files);
}

const OPTIONS: CliOptions = {
  config: false,
  // Transformed modules of other runs would replace the mutants.
  fsModuleCache: false,
  watch: false,
  pool: 'forks',
  maxWorkers: 1,
  isolate: false,
  include: ['test/**/*.test.ts'],
  exclude: ['test/cluster/**'],
  reporters: [{}],
  testTimeout: 20_000,
  runner: fileURLToPath(new URL('./mutant-test-runner.ts', import.meta.url)),
  sequence: { sequencer: InTheOrderGiven },
};

async function run(vitest: Vitest, order: Order): Promise<RunnerOutcome> {
  const changed = [present.order, order].flatMap((each) => Object.keys(each?.texts ?? {}));
  present.order = order;
  for (const file of changed) vitest.invalidateFile(resolve(file));
  const project = vitest.getRootProject();
  project.config.bail = order.untilOneFails ? 1 : 0;
  const specifications = order.tests.map((test) => project.createSpecification(resolve(test)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const reports = testModules.flatMap(({ children }) =>
    [...children.allTests()].flatMap((test) => test.meta().mutants ?? []),
  );
  return {
    failed: [
      ...testModules.flatMap(failuresIn),
      ...(unhandledErrors.length > 0 && order.untilOneFails ? ['an unhandled error'] : []),
    ],
    noticed: [...new Set(reports.flatMap(({ noticed }) => noticed))],
    reachedOutside: [...new Set(reports.flatMap(({ reachedOutside }) => reachedOutside))],
  };
}

function failuresIn(module: TestModule): readonly string[] {
  if (module.ok()) return [];
  const failed = [...module.children.allTests()].filter((test) => test.result().state === 'failed');
  const titles = failed.length === 0 ? ['it cannot be loaded'] : failed.map(({ fullName }) => fullName);
  return titles.map((title) => `${module.relativeModuleId} › ${title}`);
}

const vitest = await createVitest(OPTIONS, { plugins: [mutantPlugin] });
process.on('message', (order: Order) => void run(vitest, order).then((outcome) => process.send?.(outcome)));
// Its workers too: one of them may be in an endless loop.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
process.send?.({ failed: [], noticed: [], reachedOutside: [] } satisfies RunnerOutcome);
