import { expect, test } from 'vitest';
import { runLedgerModel } from './ledger-model.ts';
import { volume } from '#test/build/volume.ts';

const SEEDS = Array.from({ length: volume(20) }, (_, index) => 1_000 + index);
const STEPS = 60_000;

test.each(SEEDS)('the ledger holds for 60,000 steps of seed %i', async (seed) => {
  const size = seed % 2 === 0 ? { hardPods: 3 + (seed % 20) } : { hardPods: 100 + seed, hasTides: true };
  const options = { seed, replicas: 2 + (seed % 4), asksAgain: seed % 3 === 0, ...size };
  const report = await runLedgerModel(options, STEPS);
  expect(report.violation).toBeUndefined();
  expect({ steps: report.steps, used: report.usedAtRest }).toEqual({ steps: STEPS, used: report.livingAtRest });
});
