import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { shareCompileCache } from '#test/build/compile-cache.ts';
import { testReporters } from '#tools/test-reporters.ts';

shareCompileCache();

const shared = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  environment: 'node',
  pool: 'forks' as const,
  setupFiles: [fileURLToPath(new URL('../build/property-seed.ts', import.meta.url))],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};
/** The name says the level (docs/contributing/testing.md); a developer who names none gets both. */
const NIGHTLY = '**/*.nightly.test.ts';
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  landing: [NIGHTLY],
  nightly: ['**/!(*.nightly).test.ts'],
};
const NO_TESTS = ['**/node_modules/**', ...(LEVELS[process.env['PLIMSOLL_TEST_LEVEL'] ?? ''] ?? [])];
const ALL = 'test/cluster/**/*.test.ts';
/** Emulated machines. */
const GUESTS = 'test/cluster/guest/**/*.test.ts';
/** Real nodes and images, of which a machine has one at a time. */
const NODES = 'test/cluster/{image,node,playground}/**/*.test.ts';
/** Each file has a control plane of its own, or needs none. */
const PLANES = [
  'test/cluster/{cli,docs,installed,monitoring,policies,scheduler}/**/*.test.ts',
  'test/cluster/{client-node,cluster,fake-nodes,restart}*.test.ts',
];

/** Tests on real control planes and on real nodes. */
export default defineConfig({
  test: {
    reporters: testReporters(process.env),
    projects: [
      {
        test: {
          ...shared,
          ...oneByOne(1),
          name: 'cluster',
          include: [ALL],
          exclude: [...NO_TESTS, GUESTS, NODES, ...PLANES],
          globalSetup: [fileURLToPath(new URL('./setup.ts', import.meta.url))],
        },
      },
      {
        test: {
          ...shared,
          name: 'planes',
          include: PLANES,
          exclude: NO_TESTS,
          globalSetup: [fileURLToPath(new URL('../cli/bundled-cli.ts', import.meta.url))],
          // They wait more than they work.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...shared, ...oneByOne(3), name: 'nodes', include: [NODES], exclude: NO_TESTS } },
      { test: { ...shared, ...oneByOne(4), name: 'guests', include: [GUESTS], exclude: NO_TESTS } },
    ],
  },
});

/** Files that share what they run on follow each other. */
function oneByOne(groupOrder: number): object {
  return { fileParallelism: false, sequence: { groupOrder } };
}
