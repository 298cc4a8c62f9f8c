import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeDigest, restoreSpareState } from '#shared/decide/spare/digest.ts';
import type { SpareObservation } from '#shared/decide/spare/lendable.ts';
import { decideSpare, emptySpareState, type SpareDecision, type SpareState } from '#shared/decide/spare/spare.ts';
import { NO_SPARE, type SpareSettings } from '#shared/domain/spare/spare-settings.ts';

const MINUTE = 60_000;
const GIB = 2 ** 30;
const ALLOCATABLE = 30 * GIB;

interface Moment {
  /** Shares of the capacity. */
  readonly used: number;
  readonly taken?: number;
  readonly spareUsed?: number;
}

function observation(
  capacity: number,
  { used, taken = 0, spareUsed = 0 }: Moment,
  more: Partial<SpareObservation> = {},
): SpareObservation {
  return {
    capacity,
    allocatable: (capacity * 30) / 32,
    ceiling: capacity * 0.95,
    used: used * capacity,
    requested: 0.9 * capacity,
    spare: { requested: taken * capacity, used: spareUsed * capacity },
    textOf: String,
    ...more,
  };
}

function seen(moment: Moment, more: Partial<SpareObservation> = {}) {
  return { memory: observation(32 * GIB, moment, more), cpu: observation(8_000, moment, more) };
}

/** The decisions of a node that is looked at every ten seconds. */
function* run(
  moments: Iterable<Moment>,
  settings: SpareSettings = NO_SPARE,
  from: SpareState = emptySpareState(0),
  startMs = 0,
): Generator<SpareDecision & { readonly now: number }> {
  let state = from;
  let now = startMs;
  for (const moment of moments) {
    const decision = decideSpare(state, seen(moment), settings, now);
    ({ state } = decision);
    yield { ...decision, now };
    now += 10_000;
  }
}

function* steadily(moment: Moment, minutes: number): Generator<Moment> {
  for (let step = 0; step < minutes * 6; step += 1) yield moment;
}

function last<T>(items: Iterable<T>): T {
  const item = [...items].at(-1);
  if (item === undefined) throw new Error('expected an item');
  return item;
}

describe('what is lent', () => {
  test('is nothing before an hour of history, and then what is not used', () => {
    const all = [...run(steadily({ used: 0.4 }, 90))];
    const first = all.find(({ state }) => state.published.memory > 0);
    expect(first?.now).toBeGreaterThanOrEqual(60 * MINUTE);
    expect(first?.now).toBeLessThan(61 * MINUTE);
    expect(all[10]?.lendable.memory.because.text).toBe(
      'usage has been measured for 1 of 60 minutes; nothing is lent yet',
    );
    const share = (first?.state.published.memory ?? 0) / (32 * GIB);
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThan(0.95 - 0.025 - 0.4);
  });

  test('is written once while usage stays where it is, and never above what pods can use', () => {
    const amounts = [...run(steadily({ used: 0.02 }, 600))].map(({ state }) => state.published.memory);
    expect(new Set(amounts).size).toBe(2);
    expect(Math.max(...amounts)).toBeLessThanOrEqual(ALLOCATABLE);
  });

  test('keeps room for rises that were seen, and less of it for a lower percentile', () => {
    const peaks = function* (): Generator<Moment> {
      for (let hour = 0; hour < 20; hour += 1) {
        yield* steadily({ used: 0.3 }, 55);
        yield* steadily({ used: 0.6 }, 5);
      }
      yield* steadily({ used: 0.3 }, 50);
    };
    const lent = (percentile: number) => last(run(peaks(), { ...NO_SPARE, percentile })).lendable.memory.lendable;
    expect(lent(99) / (32 * GIB)).toBeLessThan(0.95 - 0.025 - 0.59);
    expect(lent(80)).toBeGreaterThan(lent(99));
  });

  test('falls at once when usage rises, to what spare pods request and no further', () => {
    const moments = [
      ...steadily({ used: 0.3 }, 70),
      ...steadily({ used: 0.3, taken: 0.3, spareUsed: 0.2 }, 30),
      { used: 0.75, taken: 0.3, spareUsed: 0.2 },
    ];
    const all = [...run(moments)];
    expect(last(all.slice(0, -1)).state.published.memory / (32 * GIB)).toBeGreaterThan(0.35);
    expect(last(all).state.published.memory).toBe(0.3 * 32 * GIB);
    expect(last(all).lendable.memory.because.code).toBe('NoRoom');
  });

  test('is less as soon as a hundredth of what pods can use is expected more', () => {
    const before = [...steadily({ used: 0.3 }, 70)];
    const after = (rise: number) => last(run([...before, { used: 0.3 + rise }])).state.published.memory;
    expect(after(0.012)).toBeLessThan(after(0));
    expect(after(0.005)).toBe(after(0));
  });

  test('counts pods that come with their whole request for two minutes', () => {
    const before = [...steadily({ used: 0.3 }, 70)];
    const settlingAfter = (minutes: number) =>
      last(run([...before, ...steadily({ used: 0.3, taken: 0.2 }, minutes)])).lendable.memory.because.facts;
    expect(settlingAfter(2)).toMatchObject({ settling: 0.2 * 32 * GIB });
    expect(settlingAfter(2.5)).toMatchObject({ settling: 0 });
  });

  test('is a share of what pods can use at most', () => {
    const { published } = last(run(steadily({ used: 0.1 }, 70), { ...NO_SPARE, max: 0.25 })).state;
    expect(published.memory).toBeCloseTo(0.25 * ALLOCATABLE, -1);
    expect(published.cpu).toBeCloseTo(0.25 * 7_500, -1);
  });

  test('is nothing new while an objection stands, whatever is free', () => {
    const { state } = last(run(steadily({ used: 0.3 }, 70)));
    const because = { code: 'Doubtful', text: 'doubtful', facts: {} };
    const doubtful = seen({ used: 0.3, taken: 0.1 }, { objection: () => because });
    const decision = decideSpare(state, doubtful, NO_SPARE, 71 * MINUTE);
    expect(decision.state.published.memory).toBe(0.1 * 32 * GIB);
    expect(decision.lendable.memory).toEqual({ lendable: 0, because });
  });

  test('is never less than spare pods request, whatever happens', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const moment = fc.record({ used: share, taken: share, spareUsed: share });
    const settings = fc.record({ percentile: fc.integer({ min: 50, max: 100 }), max: share, margin: share });
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 60 }), settings, fc.boolean(), (moments, set, isOld) => {
        const from = emptySpareState(isOld ? -100 * 60 * MINUTE : 0);
        const decisions = [...run(moments, { ...NO_SPARE, ...set }, from)];
        for (const [index, { state, lendable }] of decisions.entries()) {
          const taken = moments[index]?.taken ?? NaN;
          expect(state.published.memory).toBeGreaterThanOrEqual(taken * 32 * GIB);
          expect(state.published.cpu).toBeGreaterThanOrEqual(taken * 8_000);
          expect(lendable.memory.lendable).toBeLessThanOrEqual(set.max * ALLOCATABLE);
        }
      }),
    );
  });
});

describe('the digest', () => {
  const moments = [...steadily({ used: 0.3 }, 100), ...steadily({ used: 0.5 }, 100)];

  test('has at most 2 KiB and lets a new process go on with what was lent', () => {
    const { state, now } = last(run(moments));
    const digest = encodeDigest(state);
    expect(digest.length).toBeLessThan(2_048);
    const restored = restoreSpareState({ digest, since: 0, at: now, lent: state.published }, now);
    const next = last(run([{ used: 0.5, taken: 0.1 }], NO_SPARE, restored, now));
    expect(next.state.published.memory).toBe(state.published.memory);
    expect(next.lendable.memory.because.code).toBe('Room');
  });

  test.each(['', '1', '2 a b c d e f', '1 a b c d e f'])('%j starts a new history', (digest) => {
    expect(restoreSpareState({ digest, since: 0, at: 0, lent: { memory: 1, cpu: 1 } }, 5)).toEqual(emptySpareState(5));
  });
});
