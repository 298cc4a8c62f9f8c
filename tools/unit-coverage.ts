/**
 * Coverage of the unit tests alone (vitest.config.ts). Measuring the others, which run servers and start programs, would
 * make them take half as long again.
 */
import v8 from '@vitest/coverage-v8';

/** The environment of what is measured. */
export const MEASURED = { PLIMSOLL_COVERAGE: 'on' } as const;
const isMeasured = process.env['PLIMSOLL_COVERAGE'] === MEASURED.PLIMSOLL_COVERAGE;

const unitCoverage: typeof v8 = {
  ...v8,
  startCoverage: async (options) => (isMeasured ? await v8.startCoverage?.(options) : undefined),
  takeCoverage: async (options) => (isMeasured ? await v8.takeCoverage?.(options) : undefined),
  stopCoverage: async (options) => (isMeasured ? await v8.stopCoverage?.(options) : undefined),
};

// eslint-disable-next-line no-restricted-syntax -- vitest loads it so
export default unitCoverage;
