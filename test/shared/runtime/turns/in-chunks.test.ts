import { describe, expect, test } from 'vitest';
import { inChunks } from '#shared/runtime/turns/turns.ts';

/** A clock that a step moves on. */
function steppedWork(steps: number, msPerStep: number) {
  let ms = 0;
  function* work(): Generator<undefined, string> {
    for (let step = 0; step < steps; step += 1) {
      ms += msPerStep;
      yield;
    }
    return 'done';
  }
  return { clock: { monotonic: () => ms }, work: work(), elapsedMs: () => ms };
}

describe('inChunks', () => {
  test('returns the result of the work', async () => {
    const { clock, work } = steppedWork(3, 0.1);
    expect(await inChunks(work, clock, AbortSignal.any([]))).toBe('done');
  });

  test('lets other work of the process go on every few milliseconds', async () => {
    const { clock, work, elapsedMs } = steppedWork(100, 1);
    const seen: number[] = [];
    const look = (): void => {
      seen.push(elapsedMs());
      if (elapsedMs() < 100) setImmediate(look);
    };
    setImmediate(look);
    await inChunks(work, clock, AbortSignal.any([]));
    const gaps = seen.map((ms, index) => ms - (seen[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(6);
    expect(seen.length).toBeGreaterThanOrEqual(15);
  });

  test('stops with the signal, between two slices', async () => {
    const end = new AbortController();
    const { clock, work, elapsedMs } = steppedWork(1_000_000, 1);
    setImmediate(() => end.abort(new Error('over')));
    await expect(inChunks(work, clock, end.signal)).rejects.toThrow('over');
    expect(elapsedMs()).toBeLessThan(100);
  });

  test('rejects with what a step throws', async () => {
    function* broken(): Generator<undefined, never> {
      yield;
      throw new Error('on purpose');
    }
    await expect(inChunks(broken(), { monotonic: () => 0 }, AbortSignal.any([]))).rejects.toThrow('on purpose');
  });
});
