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
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
};
const NO_TESTS = ['**/node_modules/**'];
const ALL = 'test/cluster/**/*.test.ts';
/** Emulated machines. */
const GUESTS = 'test/cluster/guest/**/*.test.ts';
/** Real nodes. */
const NODES = 'test/cluster/node/**/*.test.ts';
/** Each file has a control plane of its own, or is about the image. */
const PLANES = 'test/cluster/{cli,docs,image,installed,monitoring,playground}/**/*.test.ts';
/** As do these: what kube-scheduler decides, and what is let in to queues, moved and removed. */
const SCHEDULER = 'test/cluster/scheduler/**/*.test.ts';
const QUEUES = [
  'test/cluster/scheduler/{queues,removals}/**/*.test.ts',
  'test/cluster/scheduler/rescheduling*.test.ts',
];

/** Without the control plane that the others of `cluster` share; beside the queues, whose lane is the shortest. */
const APART = ['test/cluster/{client-node,cluster,fake-nodes,restart}.test.ts', 'test/cluster/policies/**/*.test.ts'];

/** Tests on real control planes and on real nodes: of each kind one file after another, as they share the machine. */
export default defineConfig({
  test: {
    reporters: testReporters(process.env),
    projects: [
      {
        test: {
          ...shared,
          name: 'cluster',
          include: [ALL],
          exclude: [...NO_TESTS, GUESTS, NODES, SCHEDULER, PLANES, ...APART],
          globalSetup: [fileURLToPath(new URL('./setup.ts', import.meta.url))],
        },
      },
      { test: { ...shared, name: 'scheduler', include: [SCHEDULER], exclude: [...NO_TESTS, ...QUEUES] } },
      { test: { ...shared, name: 'queues', include: [...QUEUES, ...APART] } },
      {
        test: {
          ...shared,
          name: 'planes',
          include: [PLANES],
          globalSetup: [fileURLToPath(new URL('../cli/bundled-cli.ts', import.meta.url))],
        },
      },
      { test: { ...shared, name: 'nodes', include: [NODES] } },
      { test: { ...shared, name: 'guests', include: [GUESTS] } },
    ],
  },
});
