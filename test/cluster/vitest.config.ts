import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { testReporters } from '#tools/test-reporters.ts';

/** Tests on a real control plane: one after another, as they share it. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    name: 'cluster',
    reporters: testReporters(process.env),
    environment: 'node',
    pool: 'forks',
    include: ['test/cluster/**/*.test.ts'],
    setupFiles: [fileURLToPath(new URL('../build/property-seed.ts', import.meta.url))],
    globalSetup: [fileURLToPath(new URL('./setup.ts', import.meta.url))],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
