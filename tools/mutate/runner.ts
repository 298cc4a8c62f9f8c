/** A process that runs test files with one mutant at a time in the place of its source; ordered by messages. */
import { resolve } from 'node:path';
import { createVitest, type CliOptions, type Vitest } from 'vitest/node';

/** What to run: the text stands for the file until the next order. */
export interface Order {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly string[];
}

/** The first test that failed, by file and title; `undefined` when all passed. */
export interface Outcome {
  readonly failed: string | undefined;
}

const present: { order?: Order } = {};

/** Hands the mutant to whoever loads its source. */
const mutantPlugin = {
  name: 'mutant',
  enforce: 'pre' as const,
  transform: (_: string, id: string): string | undefined => {
    const { order } = present;
    return order !== undefined && id === resolve(order.file) ? order.text : undefined;
  },
};

const OPTIONS: CliOptions = {
  config: false,
  // Transformed modules of other runs would stand in the place of mutants.
  fsModuleCache: false,
  watch: false,
  bail: 1,
  pool: 'forks',
  maxWorkers: 1,
  isolate: false,
  include: ['test/**/*.test.ts'],
  exclude: ['test/cluster/**'],
  reporters: [{}],
  testTimeout: 30_000,
};

async function run(vitest: Vitest, order: Order): Promise<Outcome> {
  if (present.order !== undefined) vitest.invalidateFile(resolve(present.order.file));
  present.order = order;
  vitest.invalidateFile(resolve(order.file));
  const project = vitest.getRootProject();
  const specifications = order.tests.map((test) => project.createSpecification(resolve(test)));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const failed = testModules.find((module) => !module.ok());
  if (failed === undefined) return { failed: unhandledErrors.length > 0 ? 'an unhandled error' : undefined };
  const test = [...failed.children.allTests()].find((each) => each.result().state === 'failed');
  return { failed: `${failed.relativeModuleId} › ${test?.fullName ?? 'it cannot be loaded'}` };
}

const vitest = await createVitest(OPTIONS, { plugins: [mutantPlugin] });
process.on('message', (order: Order) => void run(vitest, order).then((outcome) => process.send?.(outcome)));
// Its workers too: one of them may be in a loop without end.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
process.send?.({ failed: undefined });
