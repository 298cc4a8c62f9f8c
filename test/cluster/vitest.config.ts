import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { testReporters } from '#tools/test-reporters.ts';

const shared = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  environment: 'node',
  pool: 'forks' as const,
  setupFiles: [fileURLToPath(new URL('../build/property-seed.ts', import.meta.url))],
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 120_000,
};
const ALL = 'test/cluster/**/*.test.ts';
/** Real nodes, emulated ones and the image. */
const NODES = 'test/cluster/{guest,image,node}/**/*.test.ts';

/** Guests come last: they use the processors most, and beside them run in the end tests that mostly wait (.ci/run). */
class GuestsLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isGuest = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/cluster/guest/');
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isGuest(file)), ...sorted.filter(isGuest)];
  }
}

/** Tests on real control planes and on real nodes: of each kind one file after another, as they share the machine. */
export default defineConfig({
  test: {
    reporters: testReporters(process.env),
    sequence: { sequencer: GuestsLast },
    projects: [
      {
        test: {
          ...shared,
          name: 'cluster',
          include: [ALL],
          exclude: ['**/node_modules/**', NODES],
          globalSetup: [fileURLToPath(new URL('./setup.ts', import.meta.url))],
        },
      },
      { test: { ...shared, name: 'nodes', include: [NODES] } },
    ],
  },
});
