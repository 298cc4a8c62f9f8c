import { describe, expect, test } from 'vitest';
import { runLedgerModel } from './ledger-model.ts';
import type { Bug, ModelOptions } from './model-options.ts';

/** A second of work; each of the many turns may have to wait for others. */
const BUSY_MACHINE_MS = 180_000;

describe('the ledger, with replicas that race, die and lose answers', () => {
  test.each([
    { seed: 1, hardPods: 20 },
    { seed: 2, hardPods: 20 },
    { seed: 11, hardPods: 200, hasTides: true },
    { seed: 10, hardPods: 200, hasTides: true },
    { seed: 3, hardPods: 20, asksAgain: true },
  ])(
    'is never exceeded, never understates usage, and heals (seed $seed, room for $hardPods)',
    { timeout: BUSY_MACHINE_MS },
    async (options) => {
      const { violation, usedAtRest, livingAtRest, counts, recounts } = await runLedgerModel(
        { ...options, replicas: 3 },
        20_000,
      );
      expect({ violation, usedAtRest }).toEqual({ violation: undefined, usedAtRest: livingAtRest });
      const { spentFromSlices, namesTaken, ...others } = counts;
      const tooRare = Object.entries(others).filter(([, count]) => count === 0);
      expect({ tooRare, isRecounted: recounts > 50 }).toEqual({ tooRare: [], isRecounted: true });
      expect(spentFromSlices > 100).toBe('hasTides' in options);
      expect(namesTaken > 50).toBe('asksAgain' in options);
    },
  );

  test.each<Bug>([
    'listsHaveHoles',
    'agesOfViewsAreIgnored',
    'proofsAreForged',
    'namespacesAreIgnored',
    'reservationsExpireAtOnce',
    'everybodyTakesBack',
    'deletionsAreGuessed',
    'resizesAreSeenTooSoon',
    'unknownIsNothing',
  ])('is caught at planted bug %s', { timeout: BUSY_MACHINE_MS }, async (bug) => {
    expect(await firstViolation({ hardPods: 20, bug })).toMatch(/^step \d+: /);
  });

  const QUIET = { hardPods: 5_000, isQuiet: true } as const;

  test.each([0, 2])('is never exceeded in quiet times either (seed %i)', { timeout: BUSY_MACHINE_MS }, async (seed) => {
    const report = await runLedgerModel({ ...QUIET, seed, replicas: 2 }, 20_000);
    const { violation, usedAtRest, livingAtRest, counts } = report;
    expect({ violation, usedAtRest }).toEqual({ violation: undefined, usedAtRest: livingAtRest });
    expect(counts.spentFromSlices).toBeGreaterThan(50);
  });

  test.each([3, 4])(
    'shares the ledger with a replica of the version before (seed %i)',
    { timeout: BUSY_MACHINE_MS },
    async (seed) => {
      const report = await runLedgerModel({ hardPods: 20, hasEarlier: true, seed, replicas: 2 }, 20_000);
      const { violation, usedAtRest, livingAtRest } = report;
      expect({ violation, usedAtRest }).toEqual({ violation: undefined, usedAtRest: livingAtRest });
    },
  );

  test('is caught at planted bug earlierCountsAreTrusted', { timeout: BUSY_MACHINE_MS }, async () => {
    const bug = 'earlierCountsAreTrusted';
    expect(await firstViolation({ hardPods: 20, hasEarlier: true, bug })).toMatch(/^step \d+: /);
  });

  test('is caught at planted bug slicesAreTakenBackAtOnce', { timeout: BUSY_MACHINE_MS }, async () => {
    expect(await firstViolation({ ...QUIET, bug: 'slicesAreTakenBackAtOnce' })).toMatch(/^step \d+: /);
  });
});

async function firstViolation(options: Omit<ModelOptions, 'seed' | 'replicas'>): Promise<string | undefined> {
  let violation: string | undefined;
  for (let seed = 0; seed < 12 && violation === undefined; seed += 1) {
    ({ violation } = await runLedgerModel({ ...options, seed, replicas: 3 }, 20_000));
  }
  return violation;
}
