import { describe, expect, test } from 'vitest';
import {
  createPolledSource,
  watchSource,
  absent,
  failed,
  type Reading,
  reading,
} from '#agent/observe/source/source.ts';

function steppingClock(stepMs: number): { monotonic: () => number; jump: (ms: number) => void } {
  let now = 0;
  return { monotonic: () => (now += stepMs), jump: (ms) => (now += ms) };
}

const never = new AbortController().signal;

describe('watchSource', () => {
  test('accounts for each answer', () => {
    const answers: Reading<number>[] = [reading(1), absent('gone'), failed('broken'), failed('broken')];
    const source = { name: 's', read: () => answers.shift() ?? failed('none left'), close: () => undefined };
    const watched = watchSource(source, steppingClock(5));
    expect(watched.health().state).toBe('unread');
    const seen = [1, 2, 3, 4].map(() => {
      watched.read();
      const { state, because, lastReadingAtMs, durationMs, failures } = watched.health();
      return [state, because, lastReadingAtMs, durationMs, failures];
    });
    expect(seen).toEqual([
      ['reading', undefined, 10, 5, 0],
      ['absent', 'gone', 10, 5, 0],
      ['failed', 'broken', 10, 5, 1],
      ['failed', 'broken', 10, 5, 2],
    ]);
  });

  test('a source that throws has failed and affects no other source', () => {
    const source = {
      name: 's',
      read: (): Reading<number> => {
        throw new Error('boom');
      },
      close: () => undefined,
    };
    expect(watchSource(source, steppingClock(1)).read()).toEqual({
      kind: 'failed',
      because: 'cannot read source s: Error: boom',
    });
  });
});

describe('createPolledSource', () => {
  test('an answer counts until its time to live is over', async () => {
    const clock = steppingClock(0);
    const source = createPolledSource({ name: 'disk', ask: () => Promise.resolve(7), timeToLiveMs: 1000, clock });
    expect(source.latest()).toEqual({ kind: 'absent', because: 'disk was not read yet' });
    await source.poll(never);
    expect(source.latest()).toEqual({ kind: 'reading', value: 7 });
    clock.jump(1001);
    expect(source.latest()).toEqual({ kind: 'failed', because: 'the last answer of disk is 1001 ms old' });
    expect(source.health()).toMatchObject({ state: 'failed', failures: 0, lastReadingAtMs: 0 });
  });

  test('a rejection is a failure with its text', async () => {
    const ask = () => Promise.reject(new Error('no route'));
    const source = createPolledSource({ name: 'kubelet', ask, timeToLiveMs: 1000, clock: steppingClock(1) });
    await source.poll(never);
    expect(source.latest()).toEqual({ kind: 'failed', because: 'cannot read kubelet: no route' });
    expect(source.health()).toMatchObject({ state: 'failed', failures: 1, lastReadingAtMs: undefined });
  });
});
