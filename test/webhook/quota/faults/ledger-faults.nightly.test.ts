import { expect, test } from 'vitest';
import { volume } from '#test/build/volume.ts';
import { runFaults } from './run-faults.ts';

const CREATES = volume(20_000);
/** On two idle cores it takes about two minutes; others may be at work at the same time. */
const TIMEOUT_MS = 3_600_000;

test(
  `${CREATES} creates, five webhook processes of which one is killed every 1 to 3 s: no revision breaks a law, and all heals`,
  async () => {
    const options = {
      seed: 20_261,
      replicas: 5,
      creates: CREATES,
      concurrency: 64,
      reservationSeconds: 30,
      // Some live long enough to take a slice, and leave it behind; others do not.
      sliceAfterSeconds: 4,
    };
    const { verdict, load, healedAfterSeconds, kills, ...report } = await runFaults(options);
    expect(verdict.violations).toEqual([]);
    expect(healedAfterSeconds).toBeLessThan(180);
    expect({ storedDryRuns: report.storedDryRuns, failedStarts: report.failedStarts }).toEqual({
      storedDryRuns: 0,
      failedStarts: 0,
    });
    // What has not happened has not been shown to be harmless.
    const { outcomes, dryRuns, resizes } = load;
    const { alreadyExists = 0, serverError = 0 } = outcomes;
    const happened = { kills, edits: report.edits, dryRuns, resizes, alreadyExists, serverError };
    expect(Object.entries(happened).filter(([, often]) => often <= volume(10))).toEqual([]);
    expect(outcomes.ok).toBeGreaterThan(volume(5_000));
    expect(outcomes.forbidden).toBeGreaterThan(volume(500));
  },
  TIMEOUT_MS,
);
