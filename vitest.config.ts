import { defineConfig } from 'vitest/config';
import { testReporters } from './tools/test-reporters.ts';

const shared = {
  environment: 'node',
  pool: 'forks' as const,
  exclude: ['**/node_modules/**'],
  setupFiles: ['test/leaks/leak-guard.ts', 'test/build/property-seed.ts'],
};

const PURE = 'test/shared/domain/**/*.test.ts';
const LONG = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: testReporters(process.env),
    coverage: {
      provider: 'v8',
      reporter: ['text-summary'],
      include: ['shared/domain/**/*.ts'],
      thresholds: { branches: 95 },
      // A threshold that is not met must not hide behind a failed test (docs/decisions/0029).
      reportOnFailure: true,
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'pure',
          include: [PURE],
          exclude: [...shared.exclude, LONG],
          // What has no state needs no process for each file, which takes longer than its tests.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, PURE, LONG, 'test/cluster/**'],
          testTimeout: 30_000,
          // Starting processes on a busy machine takes longer than the usual ten seconds.
          hookTimeout: 60_000,
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
