import { describe, expect, test } from 'vitest';
import {
  areProcessesShort,
  depthNow,
  type MeasurementQuery,
  type UsageDepth,
} from '#shared/decide/eviction/memory-trend.ts';
import { wholeQuantity, type ThresholdSignal } from '#shared/domain/pressure/signal.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';

const NOW = 1_000_000;
const FRESH: MeasurementQuery = {
  now: NOW,
  measuredAt: NOW,
  measuredAllAt: NOW,
  isNear: false,
  isShort: false,
  areProcessesShort: false,
};

describe('depthNow', () => {
  test.each<[what: string, query: Partial<MeasurementQuery>, depth: UsageDepth | undefined]>([
    ['nothing while figures are young and the node has room', {}, undefined],
    ['everything on the slow beat', { measuredAllAt: NOW - 10_000 }, 'all'],
    ['nothing just before the slow beat', { measuredAllAt: NOW - 9_999 }, undefined],
    ['everything on the slow beat while short', { measuredAllAt: NOW - 10_000, isShort: true }, 'all'],
    ['processes while they are short', { areProcessesShort: true, isShort: true }, 'processes'],
    ['memory while the node is short', { isShort: true }, 'memory'],
    ['memory near a threshold, on the beat of pods', { isNear: true, measuredAt: NOW - 1_000 }, 'memory'],
    ['nothing near a threshold just before that', { isNear: true, measuredAt: NOW - 999 }, undefined],
    ['nothing far from thresholds on the beat of pods', { measuredAt: NOW - 1_000 }, undefined],
  ])('is %s', (_, query, depth) => {
    expect(depthNow({ ...FRESH, ...query }, { podsMs: 1_000, slowMs: 10_000 })).toBe(depth);
  });
});

describe('areProcessesShort', () => {
  const amount = (value: number) => ({
    available: wholeQuantity(value, 'DecimalSI'),
    capacity: wholeQuantity(10_000, 'DecimalSI'),
    at: NOW,
  });
  const observed = new Map<ThresholdSignal, ReturnType<typeof amount>>([
    ['pid.available', amount(100)],
    ['memory.available', amount(100)],
  ]);
  test.each([
    ['met', [threshold('pid.available', '1k')], true],
    ['one of several met', [threshold('pid.available', '10'), threshold('pid.available', '1k')], true],
    ['not met', [threshold('pid.available', '10')], false],
    ['on memory', [threshold('memory.available', '1k')], false],
    ['met until its minimum is reclaimed', [threshold('pid.available', '50', { reclaim: '100' })], true],
  ])('thresholds are %s', (_, thresholds, expected) => {
    expect(areProcessesShort(thresholds, observed)).toBe(expected);
  });
});
