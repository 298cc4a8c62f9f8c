import { describe, expect, test } from 'vitest';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { createPodHistory } from '#agent/cross-check/own-figures.ts';
import { podUsage } from './pod-figures.ts';

/** Bytes of one pod by the millisecond at which they were measured. */
function historyOf(series: readonly (readonly [atMs: number, bytes: number])[]) {
  const history = createPodHistory();
  for (const [atMs, bytes] of series) history.note(usageByUid([podUsage('a', bytes)]), atMs);
  return (fromMs: number, toMs = fromMs) => history.range('a', fromMs, toMs);
}

describe('createPodHistory', () => {
  const growing = historyOf(Array.from({ length: 31 }, (_, second) => [second * 1000, second * 100]));

  test.each<[sentence: string, fromMs: number, toMs: number, low: number, high: number]>([
    ['a moment lies between the measurements around it', 12_500, 12_500, 1200, 1300],
    ['a span takes in those inside and one on each side', 12_500, 14_200, 1200, 1500],
    ['at the time of a measurement it is that one and the next', 12_000, 12_000, 1200, 1300],
    ['beyond the newest it is the newest', 30_500, 31_500, 3000, 3000],
    ['a figure 20 s old can still be met', 10_000, 11_000, 1000, 1200],
  ])('%s', (_sentence, fromMs, toMs, low, high) => {
    expect(growing(fromMs, toMs)).toEqual({ low, high });
  });

  test('before the first measurement nothing is known', () => {
    expect(historyOf([])(0)).toBeUndefined();
    expect(historyOf([[1000, 5]])(999)).toBeUndefined();
    expect(historyOf([[1000, 5]])(1000)).toEqual({ low: 5, high: 5 });
  });

  test('many measurements in one second are one, with its least and its most', () => {
    const busy = Array.from({ length: 100 }, (_, index) => [index * 100, index % 2 === 0 ? 10 : 90] as const);
    expect(historyOf(busy)(5000)).toEqual({ low: 10, high: 90 });
  });

  test('reaches back half a minute, and forgets pods that are gone', () => {
    const history = createPodHistory();
    for (let atMs = 0; atMs <= 60_000; atMs += 1000) history.note(usageByUid([podUsage('a', atMs)]), atMs);
    expect(history.range('a', 31_000, 31_000)).toEqual({ low: 31_000, high: 32_000 });
    expect(history.range('a', 20_000, 20_000)).toBeUndefined();
    history.note(new Map(), 61_000);
    expect(history.range('a', 60_000, 60_000)).toBeUndefined();
  });
});
