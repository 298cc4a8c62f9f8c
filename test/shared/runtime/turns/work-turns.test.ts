import { describe, expect, test } from 'vitest';
import { type Exhausted, type Task, WorkTurns } from '#shared/runtime/turns/work-turns.ts';

const LIMITS = { turnMs: 5, workMs: 50, waitMs: 500 };

/** A clock that only steps move, and an event loop that goes on when it is asked to. */
function opened() {
  const loop: (() => void)[] = [];
  const clock = {
    ms: 0,
    /** That the process had no processor. */
    starvedMs: 0,
    monotonic: () => clock.ms,
    processorMs: () => clock.ms - clock.starvedMs,
  };
  const turns = new WorkTurns(LIMITS, clock, (next) => void loop.push(next));
  const endings: unknown[] = [];
  /** Takes steps of some milliseconds until it is exhausted or has done all; its result is what it has done, and why it ended. */
  const task = (stepMs: number, steps: number): Task<readonly [number, Exhausted | undefined]> =>
    function* (exhausted) {
      let done = 0;
      while (done < steps && exhausted() === undefined) {
        clock.ms += stepMs;
        done += 1;
        yield;
      }
      return [done, exhausted()];
    };
  const run = (...given: Parameters<typeof task>): void => turns.run(task(...given), (end) => endings.push(end));
  /** How long each turn of the event loop took, until nothing is left to do. */
  const drain = (): readonly number[] => {
    const took: number[] = [];
    for (let next = loop.shift(); next !== undefined; next = loop.shift()) {
      const before = clock.ms;
      next();
      took.push(clock.ms - before);
    }
    return took;
  };
  return { clock, turns, run, drain, endings, loop };
}

describe('WorkTurns', () => {
  test('a task that is alone begins at once, and ends at once if its turn suffices', () => {
    const { run, endings } = opened();
    run(1, 4);
    expect(endings).toEqual([{ ok: true, value: [4, undefined] }]);
  });

  test('a task gets 50 ms of work, in turns of 5 ms', () => {
    const { run, drain, endings, clock } = opened();
    run(1, 1_000);
    expect(clock.ms).toBe(5);
    expect(Math.max(...drain())).toBe(5);
    expect(endings).toEqual([{ ok: true, value: [50, 'work'] }]);
  });

  test('however many tasks come at once, no turn of the event loop is longer than 5 ms and one step', () => {
    const { run, drain, endings, clock } = opened();
    for (let each = 0; each < 16; each += 1) run(2, 10);
    expect(clock.ms).toBeLessThanOrEqual(6);
    expect(Math.max(...drain())).toBeLessThanOrEqual(6);
    expect(endings).toEqual(Array.from({ length: 16 }, () => ({ ok: true, value: [10, undefined] })));
  });

  test('the wait for others is no work, but has an end of its own', () => {
    const { run, drain, endings } = opened();
    for (let each = 0; each < 12; each += 1) run(1, 1_000);
    drain();
    const whys = endings.map((end) => (end as { value: unknown[] }).value);
    expect(whys.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => [50, 'work']));
    expect(whys.slice(10)).toEqual([
      [5, 'wait'],
      [0, 'wait'],
    ]);
  });

  test('the wait for a processor that other processes use is no work', () => {
    const { turns, drain, endings, clock } = opened();
    turns.run(
      function* (exhausted) {
        let done = 0;
        while (exhausted() === undefined) {
          clock.ms += 4;
          clock.starvedMs += 3;
          done += 1;
          yield;
        }
        return [done, exhausted()];
      },
      (end) => endings.push(end),
    );
    expect(Math.max(...drain())).toBe(8);
    expect(endings).toEqual([{ ok: true, value: [50, 'work'] }]);
  });

  test('a process without a processor answers in time all the same', () => {
    const { turns, drain, endings, clock } = opened();
    turns.run(
      function* (exhausted) {
        while (exhausted() === undefined) {
          clock.ms += 100;
          clock.starvedMs += 99;
          yield;
        }
        return exhausted();
      },
      (end) => endings.push(end),
    );
    drain();
    expect(endings).toEqual([{ ok: true, value: 'wait' }]);
    expect(clock.ms).toBe(500);
  });

  test('what a task throws ends it alone', () => {
    const { turns, run, drain, endings } = opened();
    const error = new Error('broken');
    turns.run(
      // eslint-disable-next-line require-yield -- it throws first
      function* (): Generator<undefined, never> {
        throw error;
      },
      (end) => endings.push(end),
    );
    run(1, 1);
    drain();
    expect(endings).toEqual([
      { ok: false, error },
      { ok: true, value: [1, undefined] },
    ]);
  });
});
