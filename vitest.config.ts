import { defineConfig } from 'vitest/config';
import { shareCompileCache } from './test/build/compile-cache.ts';
import { testReporters } from './tools/test-reporters.ts';

shareCompileCache();

const shared = {
  environment: 'node',
  pool: 'forks' as const,
  exclude: ['**/node_modules/**'],
  setupFiles: ['test/leaks/leak-guard.ts', 'test/build/property-seed.ts'],
};

const brief = {
  ...shared,
  testTimeout: 30_000,
  // Starting processes on a busy machine takes longer than the usual ten seconds.
  hookTimeout: 60_000,
};

/** Tests that start no process and leave nothing behind. */
const UNIT = [
  'test/shared/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/agent/*/**/*.test.ts',
  'test/dashboard/{access,what-if}/*.test.ts',
  'test/sandbox/api-server/*/*.test.ts',
  'test/sandbox/demo/*.test.ts',
  'test/sandbox/node/{containers,pods}/*.test.ts',
  'test/tools/{generate,mechanisms,metrics,mutate,reach,references}/*.test.ts',
  'test/webhook/{events,evictions,handlers,quota,server}/*.test.ts',
];
/** Tests of the command line. */
const COMMANDS = ['test/cli/**/*.test.ts', 'test/docs/commands.test.ts'];
const LONG = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    // On two processors: many tests wait for processes.
    maxWorkers: 5,
    reporters: testReporters(process.env),
    coverage: {
      provider: 'custom',
      customProviderModule: './tools/unit-coverage.ts',
      reporter: ['text-summary'],
      include: ['shared/domain/**/*.ts'],
      thresholds: { branches: 95 },
      // A threshold that is not met must not hide behind a failed test (docs/decisions/0029).
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...brief,
          name: 'unit',
          include: UNIT,
          exclude: [...shared.exclude, LONG],
          // A process for each file takes longer than the tests of most of these.
          isolate: false,
        },
      },
      {
        test: {
          ...brief,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, ...UNIT, ...COMMANDS, LONG, 'test/cluster/**'],
        },
      },
      {
        test: {
          ...brief,
          name: 'commands',
          include: COMMANDS,
          exclude: [...shared.exclude, LONG],
          globalSetup: ['test/cli/bundled-cli.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'long',
          include: [LONG],
          exclude: [...shared.exclude, 'test/cluster/**'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
