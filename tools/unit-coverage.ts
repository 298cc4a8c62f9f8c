/**
 * Coverage of the files that share a process, which are the unit tests (vitest.config.ts). Measuring the others, which
 * start processes, would make them take 50 % longer.
 */
import v8 from '@vitest/coverage-v8';

let isMeasured = false;

const unitCoverage: typeof v8 = {
  ...v8,
  startCoverage: async (options) => {
    isMeasured = !options.isolate;
    if (isMeasured) await v8.startCoverage?.(options);
  },
  takeCoverage: async (options) => (isMeasured ? await v8.takeCoverage?.(options) : undefined),
  stopCoverage: async (options) => {
    if (isMeasured) await v8.stopCoverage?.(options);
  },
};

// eslint-disable-next-line no-restricted-syntax -- vitest loads it so
export default unitCoverage;
