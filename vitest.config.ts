import { defineConfig } from 'vitest/config';
import { shareCompileCache } from './test/build/compile-cache.ts';
import { testReporters } from './tools/test-reporters.ts';
import { MEASURED } from './tools/unit-coverage.ts';

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

/** Tests of the core and of parts that are nearly as pure; by these, coverage of the core is measured. */
const UNIT = [
  'test/shared/**/*.test.ts',
  'test/conformance/**/*.test.ts',
  'test/agent/*/**/*.test.ts',
  'test/dashboard/{access,what-if}/*.test.ts',
  'test/sandbox/api-server/*/*.test.ts',
  'test/sandbox/demo/*.test.ts',
  'test/sandbox/node/{containers,pods}/*.test.ts',
  'test/tools/{generate,manifests,mechanisms,metrics,reach,references}/*.test.ts',
  'test/webhook/{events,evictions,handlers,quota,server}/*.test.ts',
];
/** Each in a process of its own: they start programs, or are about what files that share one must not do. */
const PROGRAMS = [
  'test/agent/{ended-pods,large-pods,main,own-kernel,own-life,pod-statistics,real-kernel}.test.ts',
  'test/deploy/{class-rules,crds}.test.ts',
  'test/leaks/**/*.test.ts',
  'test/sandbox/{options,start-component}.test.ts',
  'test/sandbox/controllers/workloads.test.ts',
  'test/sandbox/node/*.test.ts',
  'test/sandbox/node/processes/*.test.ts',
  'test/scheduler/{dashboard-port,main,renewed-authority}.test.ts',
  'test/scheduler/**/*-process.test.ts',
  'test/scheduler/disruptions/{debits,missed-removals}.test.ts',
  'test/scheduler/nodes/node-controller.test.ts',
  'test/scheduler/rescheduling/bad-service.test.ts',
  'test/tools/{release,reporters,trace}/*.test.ts',
  'test/webhook/disruption-limits/accounts.test.ts',
  'test/webhook/slow-reads/*.test.ts',
];
/** Tests of the command line. */
const COMMANDS = ['test/cli/**/*.test.ts', 'test/docs/commands.test.ts'];
const LONG = 'test/**/*.long.test.ts';
/** For tests that run commands. */
const REMOVE_FOLDERS = 'test/cli/remove-folders.ts';

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
      // A threshold that is not met must not hide behind a failed test (docs/contributing/decisions/ci.md).
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...brief,
          name: 'unit',
          include: UNIT,
          exclude: [...shared.exclude, LONG],
          isolate: false,
          env: MEASURED,
        },
      },
      {
        test: {
          ...brief,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, ...UNIT, ...PROGRAMS, ...COMMANDS, LONG, 'test/cluster/**'],
          // A process for each file takes longer than the tests of most of these.
          isolate: false,
        },
      },
      { test: { ...brief, name: 'programs', include: PROGRAMS, exclude: [...shared.exclude, LONG] } },
      {
        test: {
          ...brief,
          name: 'commands',
          include: COMMANDS,
          exclude: [...shared.exclude, LONG],
          isolate: false,
          setupFiles: [...shared.setupFiles, REMOVE_FOLDERS],
          globalSetup: ['test/cli/bundled-cli.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'long',
          setupFiles: [...shared.setupFiles, REMOVE_FOLDERS],
          include: [LONG],
          exclude: [...shared.exclude, 'test/cluster/**'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
