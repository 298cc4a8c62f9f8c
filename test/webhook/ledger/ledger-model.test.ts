import { describe, expect, test } from 'vitest';
import { runLedgerModel, type ModelOptions } from './ledger-model.ts';

/** A second of work; each of the many turns may have to wait for others. */
const BUSY_MACHINE_MS = 180_000;

describe('the ledger, with replicas that race, die and lose answers', () => {
  test.each([1, 2, 3])(
    'is never exceeded, never says less than the truth, and heals (seed %i)',
    { timeout: BUSY_MACHINE_MS },
    async (seed) => {
      const report = await runLedgerModel({ seed, replicas: 3, hardPods: 20 }, 8_000);
      expect(report.violation).toBeUndefined();
      expect(report.usedAtRest).toBe(report.livingAtRest);
      const tooRare = Object.entries(report.counts).filter(([, count]) => count === 0);
      expect({ tooRare, isRecounted: report.recounts > 50 }).toEqual({ tooRare: [], isRecounted: true });
    },
  );

  test.each<NonNullable<ModelOptions['bug']>>([
    'listsHaveHoles',
    'reservationsExpireAtOnce',
    'everybodyTakesBack',
    'deletionsAreGuessed',
  ])('is caught at planted bug %s', { timeout: BUSY_MACHINE_MS }, async (bug) => {
    let violation: string | undefined;
    for (let seed = 0; seed < 12 && violation === undefined; seed += 1) {
      ({ violation } = await runLedgerModel({ seed, replicas: 3, hardPods: 20, bug }, 20_000));
    }
    expect(violation).toMatch(/^step \d+: /);
  });
});
