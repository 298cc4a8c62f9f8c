import { defineConfig } from 'vitest/config';
import { testReporters } from './tools/test-reporters.ts';

const shared = {
  environment: 'node',
  pool: 'forks' as const,
  exclude: ['**/node_modules/**'],
  setupFiles: ['test/leaks/leak-guard.ts', 'test/build/property-seed.ts'],
};

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
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...shared.exclude, 'test/**/*.long.test.ts', 'test/cluster/**'],
          testTimeout: 30_000,
          // Starting processes on a busy machine takes longer than the usual ten seconds.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          ...shared,
          name: 'long',
          include: ['test/**/*.long.test.ts'],
          exclude: [...shared.exclude, 'test/cluster/**'],
          testTimeout: 900_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
