import { describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { encodeDigest } from '#shared/decide/spare/digest.ts';
import { simulateSpare } from '#shared/decide/spare/simulate-spare.ts';
import { decideSpare, emptySpareState } from '#shared/decide/spare/spare.ts';
import { NO_SPARE } from '#shared/domain/spare/spare-settings.ts';

const GIB = 2 ** 30;
const MINUTE = 60_000;
const WALL = Date.UTC(2026, 0, 1);

/** What an agent reports of 32Gi after a day in which 8Gi were used, and 20Gi five minutes an hour. */
function reported() {
  let state = emptySpareState(WALL);
  let now = WALL;
  for (; now < WALL + 1_440 * MINUTE; now += MINUTE) {
    const isPeak = Math.floor((now - WALL) / MINUTE) % 60 >= 55;
    const of = (capacity: number) => ({
      capacity,
      allocatable: capacity,
      ceiling: capacity * 0.95,
      used: (isPeak ? 0.625 : 0.25) * capacity,
      requested: 0,
      spare: { requested: 0, used: 0 },
      textOf: String,
    });
    ({ state } = decideSpare(state, { memory: of(32 * GIB), cpu: of(8_000) }, NO_SPARE, now));
  }
  const entry = { requested: 0, used: 8 * GIB, median: 0, p99: 0, highest: 0, taken: 0, lendable: 0, lent: 0 };
  const because = { code: 'Room', text: '', facts: {} };
  const spare = {
    mode: 'DryRun',
    since: new Date(WALL).toISOString(),
    memory: { ...entry, because },
    cpu: { ...entry, because },
    digest: encodeDigest(state),
  };
  const signal = { name: 'memory.available', state: 'Far', available: '24Gi', capacity: '32Gi', threshold: '1Gi' };
  const status = { observedAt: new Date(now).toISOString(), signals: [signal], spare };
  const read = decodeNodePressure({ metadata: { name: 'n1' }, status }).status;
  if (read === undefined) throw new Error('expected a status');
  return { now, status: read };
}

describe('what could be lent with other settings', () => {
  const { status, now } = reported();
  const simulated = (settings: Partial<typeof NO_SPARE>) =>
    simulateSpare(status, 30 * GIB, { ...NO_SPARE, ...settings }, now);

  test('a lower percentile lends more, and is exceeded more often', () => {
    const [cautious, bold] = [simulated({}), simulated({ percentile: 60 })];
    expect(cautious?.lendable).toBeLessThan(12 * GIB);
    expect(cautious?.exceededPercent).toBe(0);
    expect(bold?.lendable).toBeGreaterThan(12 * GIB);
    expect(bold?.exceededPercent).toBeGreaterThan(40);
    expect(bold?.exceededPercent).toBeLessThan(65);
  });

  test('margin and maximum lend less', () => {
    const usual = simulated({})?.lendable ?? 0;
    expect(simulated({ margin: 0.1 })?.lendable).toBeCloseTo(usual - 0.075 * 32 * GIB, -2);
    expect(simulated({ max: 0.1 })?.lendable).toBe(3 * GIB);
  });

  test('without a report of spare room or memory there is no answer', () => {
    expect(simulateSpare({ ...status, spare: undefined }, 30 * GIB, NO_SPARE, now)).toBeUndefined();
    expect(simulateSpare({ ...status, signals: [] }, 30 * GIB, NO_SPARE, now)).toBeUndefined();
  });
});
