import { defineConfig } from 'vitest/config';

/** Tests on a real control plane: one after another, as they share it. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    name: 'cluster',
    environment: 'node',
    pool: 'forks',
    include: ['test/cluster/**/*.test.ts'],
    globalSetup: ['test/cluster/setup.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
