import { defineConfig } from 'vitest/config';
import { shareCompileCache } from './test/build/compile-cache.ts';
import { testReporters } from './tools/test-reporters.ts';

shareCompileCache();

const shared = {
  environment: 'node',
  pool: 'forks' as const,
  exclude: ['**/node_modules/**', 'test/cluster/**'],
  setupFiles: ['test/leaks/leak-guard.ts', 'test/build/property-seed.ts'],
  testTimeout: 30_000,
  // Starting processes on a busy machine takes longer than the usual ten seconds.
  hookTimeout: 60_000,
};
/** What a file's name says it needs; docs/contributing/testing.md lists them. */
const PROCESS = 'test/**/*.process.test.ts';
const LONG = 'test/**/*.long.test.ts';
const NIGHTLY = 'test/**/*.nightly.test.ts';
/** One run of the sandbox to its end. */
const SCENARIO = 'test/sandbox/scenario.test.ts';
/** Those of `process` that run the command line: of one bundle, and in folders that are removed after each file. */
const COMMANDS = 'test/{cli,docs}/**/*.process.test.ts';
const REMOVE_FOLDERS = 'test/cli/remove-folders.ts';

const patient = {
  setupFiles: [...shared.setupFiles, REMOVE_FOLDERS],
  testTimeout: 900_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    // On two processors: many tests wait for processes.
    maxWorkers: 5,
    reporters: testReporters(process.env),
    coverage: {
      reporter: ['text-summary'],
      include: ['shared/domain/**/*.ts'],
      thresholds: { branches: 95 },
      // A threshold that is not met must not hide behind a failed test (docs/contributing/decisions/ci.md).
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, PROCESS, LONG, NIGHTLY, SCENARIO],
          setupFiles: [...shared.setupFiles, 'test/build/no-programs.ts'],
          // What finds most; `.ci/nightly` runs all.
          env: { PLIMSOLL_TEST_VOLUME: process.env['PLIMSOLL_TEST_VOLUME'] ?? '0.25' },
          // A process for each file takes longer than the tests of most of these.
          isolate: false,
        },
      },
      // After the others: it is a matter of seconds, which a busy machine does not give it.
      { test: { ...shared, name: 'scenario', include: [SCENARIO], sequence: { groupOrder: 1 } } },
      { test: { ...shared, name: 'process', include: [PROCESS], exclude: [...shared.exclude, COMMANDS] } },
      {
        test: {
          ...shared,
          name: 'commands',
          include: [COMMANDS],
          isolate: false,
          setupFiles: [...shared.setupFiles, REMOVE_FOLDERS],
          globalSetup: ['test/cli/bundled-cli.ts'],
        },
      },
      { test: { ...shared, ...patient, name: 'long', include: [LONG] } },
      { test: { ...shared, ...patient, name: 'nightly', include: [NIGHTLY] } },
    ],
  },
});
