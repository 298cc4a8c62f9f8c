import { describe, expect, test } from 'vitest';
import { runLedgerModel, type ModelOptions } from './ledger-model.ts';

describe('the ledger, with replicas that race, die and lose answers', () => {
  test.each([1, 2, 3, 4, 5])('is never exceeded, never says less than the truth, and heals (seed %i)', async (seed) => {
    const report = await runLedgerModel({ seed, replicas: 3, hardPods: 20 }, 20_000);
    expect(report.violation).toBeUndefined();
    expect(report.usedAtRest).toBe(report.livingAtRest);
    const tooRare = Object.entries(report.counts).filter(([, count]) => count === 0);
    expect({ tooRare, isRecounted: report.recounts > 100 }).toEqual({ tooRare: [], isRecounted: true });
  });

  test.each<NonNullable<ModelOptions['bug']>>([
    'listsHaveHoles',
    'reservationsExpireAtOnce',
    'everybodyTakesBack',
    'deletionsAreGuessed',
  ])('is caught at planted bug %s', async (bug) => {
    const runs = Array.from({ length: 8 }, (_, seed) =>
      runLedgerModel({ seed, replicas: 3, hardPods: 20, bug }, 20_000),
    );
    const violations = (await Promise.all(runs)).map(({ violation }) => violation);
    expect(violations.find((violation) => violation !== undefined)).toMatch(/^step \d+: /);
  });
});
