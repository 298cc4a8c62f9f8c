import { describe, expect, test } from 'vitest';
import { runLedgerModel } from './ledger-model.ts';

describe('the ledger, with replicas that race, die and lose answers', () => {
  test.each([1, 2, 3, 4, 5])('is never exceeded, never says less than the truth, and heals (seed %i)', async (seed) => {
    const report = await runLedgerModel({ seed, replicas: 3, hardPods: 20 }, 20_000);
    expect(report.violation).toBeUndefined();
    expect(report.usedAtRest).toBe(report.livingAtRest);
    expect(report.crashes).toBeGreaterThan(0);
    for (const happened of [report.admitted, report.refused, report.lostAnswers, report.conflicts, report.recounts]) {
      expect(happened).toBeGreaterThan(100);
    }
  });

  test('is caught when lists have holes', async () => {
    const runs = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) =>
      runLedgerModel({ seed, replicas: 3, hardPods: 20, listsHaveHoles: true }, 20_000),
    );
    const violations = (await Promise.all(runs)).map(({ violation }) => violation);
    expect(violations.find((violation) => violation !== undefined)).toMatch(/^step \d+: /);
  });
});
