import { describe, expect, test } from 'vitest';
import {
  advanceTrend,
  expectedLoss,
  allowsNoSecondEviction,
  isExhaustionImminent,
  secondsUntil,
  type Trend,
} from '#shared/decide/eviction/memory-trend.ts';
import { type NodePod, policy } from '#test/agent/node-scene.ts';
import { whoWent } from '#test/shared/decide/eviction/episode.ts';

const SECOND = 1000;

/** Measurements of what is left, one each `everyMs`. */
function trendOf(left: readonly number[], everyMs = SECOND): Trend | undefined {
  return left.reduce<Trend | undefined>(
    (trend, available, index) => advanceTrend(trend, { available, at: index * everyMs }),
    undefined,
  );
}

describe('the fill rate', () => {
  test('is what is lost until a victim’s memory is back; a sudden step counts half, a lasting one wholly', () => {
    expect(expectedLoss(trendOf([1000, 1000]))).toBe(0);
    expect(expectedLoss(trendOf([1000, 900]))).toBe(100);
    expect(expectedLoss(trendOf([1000, 900, 800, 700, 600]))).toBe(187.5);
    expect(expectedLoss(trendOf([1000, 1100]))).toBe(0);
    expect(expectedLoss(undefined)).toBe(0);
  });

  test('leaves so many whole seconds until a floor, at the pace of the last seconds', () => {
    expect(secondsUntil(undefined, 0)).toBe(Infinity);
    expect(secondsUntil(trendOf([1000, 1000]), 0)).toBe(Infinity);
    expect(secondsUntil(trendOf([500, 1000]), 0)).toBe(Infinity);
    const steady = Array.from({ length: 60 }, (_, index) => 1000 - 10 * index);
    expect(secondsUntil(trendOf(steady), 100)).toBe(31);
    expect(secondsUntil(trendOf(steady), 900)).toBe(0);
    // What a victim gave back at once leaves those that stay no more time.
    const released = [...steady, ...steady.slice(50).map((left) => left + 5000)];
    expect(secondsUntil(trendOf(released), 5100)).toBeLessThan(secondsUntil(trendOf(steady), 100) * 2);
    expect(secondsUntil(trendOf([1000, 1000]), 100, 0.01)).toBe(90);
  });

  test('shows whether exhaustion is imminent, and whether there is time for one victim only', () => {
    const left = (last: number): Trend | undefined => trendOf([last + 200, last + 100, last]);
    const rate = 75;
    expect([isExhaustionImminent(left(10 * rate + 1)), isExhaustionImminent(left(10 * rate - 1))]).toEqual([
      false,
      true,
    ]);
    expect([allowsNoSecondEviction(left(4 * rate + 1)), allowsNoSecondEviction(left(4 * rate - 1))]).toEqual([
      false,
      true,
    ]);
  });

  test('evicts as many pods as the gap will need by then', () => {
    const pods = ['a', 'b', 'c', 'd'].map((name): NodePod => ({ name, requests: { memory: '10Mi' }, usageMiB: 60 }));
    const limits = { concurrent: 4, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 };
    const at = (now: number, availableMiB: number) => ({ now, availableMiB, pods });
    const rules = policy({ limits });
    const short = [at(SECOND, 90), at(2 * SECOND, 90)];
    expect(whoWent(short, rules)).toEqual([[], ['a']]);
    // 50 MiB a second were lost, a quarter of it still counts: another 25 in the two seconds until relief.
    expect(whoWent([at(0, 140), ...short], rules)).toEqual([[], [], ['a']]);
    expect(whoWent([at(0, 210), ...short], rules)).toEqual([[], [], ['a', 'b']]);
  });
});
