import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  advanceThresholds,
  NO_THRESHOLDS,
  type ThresholdState,
} from '#shared/decide/eviction/shortage/advance-thresholds.ts';
import { advancePressure, NO_PRESSURE, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { observe } from '#shared/domain/pressure/signal.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { memoryReadings } from '#test/agent/node-scene.ts';
import { randomSource } from '#test/fakes/random-source.ts';

const GIB_IN_MIB = 1024;
const TRANSITION_MS = 300_000;

function thresholdsOf(settings: Parameters<typeof parseThresholds>[0]): readonly Threshold[] {
  const parsed = parseThresholds(settings);
  if (!parsed.ok) throw new Error(parsed.mistakes.join('; '));
  return parsed.thresholds;
}

const HARD = thresholdsOf({ evictionHard: { 'memory.available': '250Mi' } });
const SOFT = thresholdsOf({
  evictionSoft: { 'memory.available': '250Mi' },
  evictionSoftGracePeriod: { 'memory.available': '30s' },
});

interface Series {
  readonly capacityMiB?: number;
  readonly everyMs?: number;
  readonly untilMs: number;
  readonly mebibytesAt: (atMs: number) => number;
  /** Time of the latest measurement at a given time; the same time by default. */
  readonly measuredAt?: (nowMs: number) => number;
}

/** Times of the passes in which a threshold was met, in milliseconds. */
function dueAt(thresholds: readonly Threshold[], series: Series): readonly number[] {
  const {
    capacityMiB = 4 * GIB_IN_MIB,
    everyMs = 100,
    untilMs,
    mebibytesAt,
    measuredAt = (now: number) => now,
  } = series;
  const due: number[] = [];
  let state: ThresholdState = NO_THRESHOLDS;
  for (let now = 0; now <= untilMs; now += everyMs) {
    const at = measuredAt(now);
    const observations = observe(memoryReadings(mebibytesAt(at), capacityMiB, at));
    state = advanceThresholds(state, observations, { thresholds, transitionPeriodMs: TRANSITION_MS }, now);
    if (state.pressure.due.length > 0) due.push(now);
  }
  return due;
}

describe('a hard memory threshold', () => {
  test.each<[sentence: string, series: Series, firstDueAt: number | undefined]>([
    [
      'a dip of less than a second is none',
      { untilMs: 9000, mebibytesAt: (at) => (at % 2000 < 900 ? 200 : 400) },
      undefined,
    ],
    ['what stays below for a second is met', { untilMs: 9000, mebibytesAt: (at) => (at < 3000 ? 400 : 200) }, 4000],
    ['what is nearly gone does not wait', { untilMs: 9000, mebibytesAt: (at) => (at < 3000 ? 400 : 125) }, 3000],
    ['what falls too fast to wait does not wait either', { untilMs: 9000, mebibytesAt: (at) => 600 - at / 10 }, 3600],
    ['a slow fall waits its second', { untilMs: 9000, mebibytesAt: (at) => 300 - at / 50 }, 3600],
    [
      'a step that leaves enough for a while waits its second',
      { untilMs: 9000, mebibytesAt: (at) => (at < 3000 ? 900 : 240) },
      4000,
    ],
  ])('%s', (_sentence, series, firstDueAt) => {
    expect(dueAt(HARD, series)[0]).toBe(firstDueAt);
  });

  test('on a large node nearly gone is half a percent, not half the threshold', () => {
    const tenPercent = thresholdsOf({ evictionHard: { 'memory.available': '10%' } });
    const capacityMiB = 64 * GIB_IN_MIB;
    const first = (left: number) =>
      dueAt(tenPercent, { capacityMiB, untilMs: 5000, mebibytesAt: (at) => (at < 2000 ? 8000 : left) })[0];
    expect(first(3000)).toBe(3000);
    expect(first(320)).toBe(2000);
  });

  test('confirmation needs a second measurement, not the first one again', () => {
    const everyTenSeconds = (now: number): number => Math.floor(now / 10_000) * 10_000;
    const series = { untilMs: 25_000, mebibytesAt: () => 200, measuredAt: everyTenSeconds };
    expect(dueAt(HARD, series)[0]).toBe(10_000);
  });

  test('applies to the limit of all pods as well', () => {
    const copied = thresholdsOf({ evictionHard: { 'memory.available': '250Mi' }, enforceNodeAllocatable: ['pods'] });
    let state: ThresholdState = NO_THRESHOLDS;
    const seen: number[] = [];
    for (let now = 0; now <= 1500; now += 100) {
      const readings = { ...memoryReadings(900, 4096, now), allocatableMemory: memoryReadings(200, 2000, now).memory };
      const policy = { thresholds: copied, transitionPeriodMs: TRANSITION_MS };
      state = advanceThresholds(state, observe(readings), policy, now);
      seen.push(...state.pressure.due.map(() => now));
    }
    expect(seen[0]).toBe(1000);
  });

  test('once confirmed it holds until its minimum reclaim is there', () => {
    const withReclaim = thresholdsOf({
      evictionHard: { 'memory.available': '250Mi' },
      evictionMinimumReclaim: { 'memory.available': '100Mi' },
    });
    const mebibytesAt = (at: number): number => (at <= 1000 ? 200 : at <= 2000 ? 300 : at <= 3000 ? 360 : 240);
    expect(dueAt(withReclaim, { untilMs: 3900, mebibytesAt })).toEqual([
      1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 1900, 2000,
    ]);
  });

  test('raises no condition before it is confirmed', () => {
    const policy = { thresholds: HARD, transitionPeriodMs: TRANSITION_MS };
    const dip = advanceThresholds(NO_THRESHOLDS, observe(memoryReadings(200, 4096, 0)), policy, 0);
    expect([dip.pressure.observed, dip.pressure.conditions]).toEqual([[], []]);
  });

  test('is met only if memory was short for a second, nearly exhausted or falling', () => {
    const seconds = fc.array(fc.integer({ min: 130, max: 500 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(seconds, (figures) => {
        const mebibytesAt = (at: number): number => figures[at / 100] ?? 500;
        const due = dueAt(HARD, { untilMs: (figures.length - 1) * 100, mebibytesAt });
        for (const at of due.filter((each) => !due.includes(each - 100))) {
          const index = at / 100;
          const isBelowForASecond = index >= 10 && figures.slice(index - 10, index + 1).every((each) => each < 250);
          const hasFallen = figures.slice(Math.max(0, index - 6), index).some((each) => each > (figures[index] ?? 0));
          expect(isBelowForASecond || hasFallen).toBe(true);
        }
      }),
    );
  });
});

describe('a soft threshold', () => {
  const RUNS = 200;
  const RUN_MS = 45_000;

  /** Below the threshold except for moments of 100 ms. */
  function noisy(seed: number, shareAbove: number): (atMs: number) => number {
    const random = randomSource(seed);
    const figures = Array.from({ length: RUN_MS / 100 + 1 }, () => (random.chance(shareAbove) ? 400 : 200));
    return (atMs) => figures[Math.floor(atMs / 100)] ?? 200;
  }

  function kubeletActs(mebibytesAt: (atMs: number) => number): boolean {
    let pressure = NO_PRESSURE;
    for (let now = 0; now <= RUN_MS; now += 10_000) {
      const rules = { thresholds: SOFT, transitionPeriodMs: TRANSITION_MS };
      pressure = advancePressure(pressure, observe(memoryReadings(mebibytesAt(now), 4096, now)), rules, now);
      if (pressure.due.length > 0) return true;
    }
    return false;
  }

  const agentActs = (mebibytesAt: (atMs: number) => number): boolean =>
    dueAt(SOFT, { untilMs: RUN_MS, mebibytesAt }).length > 0;
  const count = (acts: (mebibytesAt: (atMs: number) => number) => boolean, shareAbove: number): number =>
    Array.from({ length: RUNS }, (_, seed) => acts(noisy(seed, shareAbove))).filter(Boolean).length;

  test('a kubelet that polls every ten seconds acts no more often than an agent that polls every 100 ms', () => {
    const [kubelet, agent] = [count(kubeletActs, 0.01), count(agentActs, 0.01)];
    expect(kubelet).toBeGreaterThan(190);
    expect(agent).toBeGreaterThanOrEqual(kubelet);
  });

  test('brief shortages of memory cause no eviction', () => {
    expect(count(agentActs, 0.8)).toBe(0);
  });

  test.each<[sentence: string, reliefMs: number, isDue: boolean]>([
    ['half a second of relief is a moment', 500, true],
    ['a second and more starts the grace period over', 1300, false],
  ])('%s', (_sentence, reliefMs, isDue) => {
    const mebibytesAt = (at: number): number => (at >= 10_000 && at < 10_000 + reliefMs ? 900 : 200);
    expect(dueAt(SOFT, { untilMs: 31_500, mebibytesAt }).length > 0).toBe(isDue);
  });

  test('hard thresholds of other signals are met at once, as before', () => {
    const pids = thresholdsOf({ evictionHard: { 'pid.available': '100' } });
    const processes = { at: 0, maximum: 1000, running: 950 };
    const observations = observe({ ...memoryReadings(500, 1000, 0), processes });
    const policy = { thresholds: pids, transitionPeriodMs: TRANSITION_MS };
    expect(advanceThresholds(NO_THRESHOLDS, observations, policy, 0).pressure.due.map(isHard)).toEqual([true]);
  });
});
