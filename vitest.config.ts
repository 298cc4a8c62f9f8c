import { defineConfig } from 'vitest/config';
import { testReporters } from './tools/test-reporters.ts';

const shared = {
  environment: 'node',
  pool: 'forks',
  exclude: ['**/node_modules/**'],
  setupFiles: 'test/leaks/leak-guard.ts',
} as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: testReporters(process.env),
    coverage: {
      provider: 'v8',
      reporter: ['text-summary'],
      include: ['shared/domain/**/*.ts'],
      thresholds: { branches: 95 },
    },
    projects: [
      {
        test: {
          ...shared,
          name: 'quick',
          setupFiles: 'test/leaks/leak-guard.ts',
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
