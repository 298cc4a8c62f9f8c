import { describe, expect, test } from 'vitest';
import { repeat, type Repetition } from '#shared/runtime/repeat.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

function start(options: Partial<Repetition> & Pick<Repetition, 'task'>, clock = manualClock(0)) {
  const errors: [string, number][] = [];
  const stop = new AbortController();
  const ended = repeat(
    {
      periodMs: 1_000,
      deadlineMs: 300,
      onError: (error, failures) => errors.push([String(error), failures]),
      clock,
      random: () => 0,
      ...options,
    },
    stop.signal,
  );
  return { clock, errors, stop, ended };
}

describe('repeat', () => {
  test('runs from start to start in the period', async () => {
    const starts: number[] = [];
    const manual = manualClock(0);
    const options = {
      task: async (signal: AbortSignal) => {
        starts.push(manual.monotonic());
        await manual.sleep(200, signal);
      },
    };
    const { stop, ended } = start(options, manual);
    await manual.advance(2_500);
    stop.abort();
    await ended;
    expect(starts).toEqual([0, 1_000, 2_000]);
  });

  test('never starts a round while one runs, even past its deadline', async () => {
    const release = Promise.withResolvers<undefined>();
    const seen: AbortSignal[] = [];
    const { clock, errors, stop, ended } = start({
      task: async (signal) => {
        seen.push(signal);
        await release.promise;
        signal.throwIfAborted();
      },
    });
    await clock.advance(5_000);
    expect({ rounds: seen.length, aborted: seen[0]?.aborted }).toEqual({ rounds: 1, aborted: true });
    release.resolve(undefined);
    await clock.advance(0);
    expect(errors).toEqual([['DeadlineError: Not finished within 300 ms', 1]]);
    stop.abort();
    await ended;
  });

  test('waits longer from failure to failure and forgets it after a success', async () => {
    const starts: number[] = [];
    const clock = manualClock(0);
    const options = {
      backoff: { initialMs: 100, maxMs: 400, factor: 2, jitter: 0 },
      task: () => {
        starts.push(clock.monotonic());
        return starts.length <= 4 ? Promise.reject(new Error('no')) : Promise.resolve();
      },
    };
    const { errors, stop, ended } = start(options, clock);
    await clock.advance(2_200);
    stop.abort();
    await ended;
    expect(starts).toEqual([0, 100, 300, 700, 1_100, 2_100]);
    expect(errors.map(([, failures]) => failures)).toEqual([1, 2, 3, 4]);
  });

  test('ends at once when aborted while it waits, leaving no timer', async () => {
    const { clock, stop, ended } = start({ task: () => Promise.resolve() });
    await clock.advance(10);
    stop.abort();
    await ended;
    expect(clock.sleepers).toBe(0);
  });

  test('asks for the period after every round', async () => {
    const starts: number[] = [];
    const clock = manualClock(0);
    const task = () => Promise.resolve(void starts.push(clock.monotonic()));
    const { stop, ended } = start({ periodMs: () => starts.length * 100, task }, clock);
    await clock.advance(650);
    stop.abort();
    await ended;
    expect(starts).toEqual([0, 100, 300, 600]);
  });
});
