import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PressureRules,
  type PressureState,
  advancePressure,
  NO_PRESSURE,
  type Threshold,
} from '#shared/domain/pressure/threshold.ts';
import { type Observations, wholeQuantity, type ThresholdSignal } from '#shared/domain/pressure/signal.ts';
import { threshold } from './threshold-builder.ts';

const GI = 2 ** 30;
const HARD = threshold('memory.available', '1Gi', { reclaim: '512Mi' });
const SOFT = threshold('memory.available', '2Gi', { grace: 30, reclaim: '512Mi' });
const PIDS = threshold('pid.available', '1k');
const NO_WAIT = { transitionPeriodMs: 300_000 };

interface Look {
  readonly at: number;
  /** Gibibytes of memory left; absent where it could not be measured. */
  readonly memory?: number;
  readonly measuredAt?: number | undefined;
}

function look({ at, memory, measuredAt = at }: Look): Observations {
  if (memory === undefined) return new Map();
  const available = wholeQuantity(memory * GI, 'BinarySI');
  return new Map([['memory.available', { available, capacity: wholeQuantity(8 * GI, 'BinarySI'), at: measuredAt }]]);
}

function follow(
  looks: readonly Look[],
  thresholds: readonly Threshold[],
  rules: Omit<PressureRules, 'thresholds'> = NO_WAIT,
): PressureState {
  return looks.reduce(
    (state, each) => advancePressure(state, look(each), { ...rules, thresholds }, each.at),
    NO_PRESSURE,
  );
}

describe('advancePressure', () => {
  test('finds nothing where enough is left', () => {
    const state = follow([{ at: 0, memory: 3 }], [HARD, SOFT]);
    expect(state).toMatchObject({ observed: [], met: [], due: [], conditions: [] });
  });

  test('a threshold is crossed strictly below its value', () => {
    expect(follow([{ at: 0, memory: 1 }], [HARD]).observed).toEqual([]);
    expect(follow([{ at: 0, memory: 1 - 1 / GI }], [HARD])).toMatchObject({
      observed: [HARD],
      met: [HARD],
      due: [HARD],
    });
  });

  test('a soft threshold raises the condition at once and is due after its grace period', () => {
    const early = follow(
      [
        { at: 0, memory: 1.5 },
        { at: 29_999, memory: 1.5 },
      ],
      [SOFT],
    );
    const late = follow(
      [
        { at: 0, memory: 1.5 },
        { at: 30_000, memory: 1.5 },
      ],
      [SOFT],
    );
    expect(early).toMatchObject({ observed: [SOFT], met: [], due: [], conditions: ['MemoryPressure'] });
    expect(late).toMatchObject({ observed: [SOFT], met: [SOFT], due: [SOFT] });
  });

  test('a grace period starts over after one good look, without minimum reclaim', () => {
    const state = follow(
      [
        { at: 0, memory: 1.5 },
        { at: 20_000, memory: 2 },
        { at: 30_000, memory: 1.5 },
      ],
      [SOFT],
    );
    expect(state).toMatchObject({ observed: [SOFT], met: [], firstObserved: new Map([[SOFT.id, 30_000]]) });
  });

  test('a grace period starts over after a look that could not measure', () => {
    const state = follow([{ at: 0, memory: 1.5 }, { at: 20_000 }, { at: 30_000, memory: 1.5 }], [SOFT]);
    expect(state.met).toEqual([]);
  });

  test('a threshold once met stays until value and minimum reclaim are reached together', () => {
    expect(
      follow(
        [
          { at: 0, memory: 0.5 },
          { at: 1, memory: 1.49 },
        ],
        [HARD],
      ).met,
    ).toEqual([HARD]);
    expect(
      follow(
        [
          { at: 0, memory: 0.5 },
          { at: 1, memory: 1.5 },
        ],
        [HARD],
      ).met,
    ).toEqual([]);
  });

  test('a threshold that is configured no more is forgotten though it was not relieved', () => {
    const before = follow([{ at: 0, memory: 0.5 }], [HARD]);
    expect(advancePressure(before, look({ at: 1, memory: 1.2 }), { thresholds: [PIDS], ...NO_WAIT }, 1).met).toEqual(
      [],
    );
  });

  test('thresholds that differ in minimum reclaim alone count once when they linger', () => {
    const other = threshold('memory.available', '1Gi', { reclaim: '1Gi' });
    const state = follow(
      [
        { at: 0, memory: 0.5 },
        { at: 1, memory: 1.2 },
      ],
      [HARD, other],
    );
    expect(state.met).toEqual([HARD]);
  });

  test.each<[string, readonly Look[], readonly Threshold[]]>([
    [
      'new statistics',
      [
        { at: 0, memory: 0.5 },
        { at: 1, memory: 0.5 },
      ],
      [HARD],
    ],
    [
      'statistics as old as last time',
      [
        { at: 0, memory: 0.5 },
        { at: 1, memory: 0.5, measuredAt: 0 },
      ],
      [],
    ],
    [
      'statistics older than last time',
      [
        { at: 5, memory: 0.5 },
        { at: 6, memory: 0.5, measuredAt: 4 },
      ],
      [],
    ],
    ['statistics after a gap', [{ at: 0, memory: 0.5 }, { at: 1 }, { at: 2, memory: 0.5, measuredAt: 0 }], [HARD]],
  ])('%s: who is due', (_, looks, due) => {
    expect(follow(looks, [HARD]).due).toEqual(due);
  });

  test('statistics without a time count as new every time', () => {
    const timeless = new Map(
      Array.from(look({ at: 0, memory: 0.5 }), ([signal, each]) => [signal, { ...each, at: undefined }] as const),
    );
    const rules = { thresholds: [HARD], ...NO_WAIT };
    const first = advancePressure(NO_PRESSURE, timeless, rules, 0);
    const second = advancePressure(first, timeless, rules, 1);
    const third = advancePressure(second, look({ at: 0, memory: 0.5 }), rules, 2);
    expect([second.due, third.due]).toEqual([[HARD], [HARD]]);
  });

  test('a condition is lowered only after a whole quiet transition period', () => {
    const pressed: Look = { at: 0, memory: 0.5 };
    expect(follow([pressed, { at: 29_999, memory: 4 }], [HARD], { transitionPeriodMs: 30_000 }).conditions).toEqual([
      'MemoryPressure',
    ]);
    expect(follow([pressed, { at: 30_000, memory: 4 }], [HARD], { transitionPeriodMs: 30_000 }).conditions).toEqual([]);
  });

  test('a transition period of 0 means that no condition is ever raised', () => {
    expect(follow([{ at: 0, memory: 0.5 }], [HARD], { transitionPeriodMs: 0 }).conditions).toEqual([]);
  });

  test('hard thresholds act at once even where the clock went backwards', () => {
    expect(
      follow(
        [
          { at: 10, memory: 0.5 },
          { at: 5, memory: 0.5, measuredAt: 11 },
        ],
        [HARD],
      ).due,
    ).toEqual([HARD]);
  });
});

describe('laws of advancePressure', () => {
  const looks = fc.array(
    fc.record({
      after: fc.integer({ min: 0, max: 40_000 }),
      memory: fc.option(fc.integer({ min: 0, max: 32 }), { nil: undefined }),
    }),
    { maxLength: 20 },
  );
  const configured = fc.subarray([
    HARD,
    SOFT,
    PIDS,
    threshold('memory.available', 0.1),
    threshold('memory.available', '3Gi', { grace: 5 }),
  ]);

  function states(
    steps: readonly { readonly after: number; readonly memory: number | undefined }[],
    thresholds: readonly Threshold[],
  ) {
    let now = 0;
    let state = NO_PRESSURE;
    return steps.map(({ after, memory }) => {
      now += after;
      const at = now;
      const seen: Look = memory === undefined ? { at } : { at, memory: memory / 8 };
      state = advancePressure(state, look(seen), { thresholds, ...NO_WAIT }, now);
      return { state, now, seen };
    });
  }

  test('due is among met, met among observed, observed among configured', () => {
    fc.assert(
      fc.property(looks, configured, (steps, thresholds) => {
        for (const { state } of states(steps, thresholds)) {
          expect(state.met).toEqual(expect.arrayContaining([...state.due]));
          expect(state.observed).toEqual(expect.arrayContaining([...state.met]));
          expect(thresholds).toEqual(expect.arrayContaining([...state.observed]));
        }
      }),
    );
  });

  test('nothing unmeasured is ever due, and what is observed was first observed no later than now', () => {
    fc.assert(
      fc.property(looks, configured, (steps, thresholds) => {
        for (const { state, now, seen } of states(steps, thresholds)) {
          if (seen.memory === undefined) expect(state.due).toEqual([]);
          expect([...state.firstObserved.keys()].sort()).toEqual(state.observed.map(({ id }) => id).sort());
          expect([...state.firstObserved.values()].every((at) => at <= now)).toBe(true);
        }
      }),
    );
  });

  test('the same looks give the same states, and no state is changed later', () => {
    fc.assert(
      fc.property(looks, configured, (steps, thresholds) => {
        const first = states(steps, thresholds);
        const frozen = structuredClone(first);
        expect(states(steps, thresholds)).toEqual(first);
        expect(first).toEqual(frozen);
      }),
    );
  });

  test('with less left, everything that is crossed stays crossed', () => {
    const signal: ThresholdSignal = 'memory.available';
    fc.assert(
      fc.property(
        configured,
        fc.integer({ min: 0, max: 32 }),
        fc.integer({ min: 0, max: 8 }),
        (thresholds, memory, less) => {
          const more = follow([{ at: 0, memory: memory / 8 }], thresholds).observed;
          const fewer = follow([{ at: 0, memory: Math.max(0, memory - less) / 8 }], thresholds).observed;
          expect(fewer).toEqual(expect.arrayContaining([...more]));
          expect(fewer.every((each) => each.signal === signal)).toBe(true);
        },
      ),
    );
  });
});
