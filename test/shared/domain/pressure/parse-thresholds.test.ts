import { describe, expect, test } from 'vitest';
import { type EvictionSettings, parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { threshold } from './threshold-builder.ts';

const LATER = { evictionSoftGracePeriod: { 'memory.available': '30s' } };

describe('parseThresholds', () => {
  test('reads hard and soft thresholds, grace periods and minimum reclaim', () => {
    const settings: EvictionSettings = {
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '1m30s', 'pid.available': '1s' },
      evictionMinimumReclaim: { 'memory.available': '0', 'imagefs.available': '150%' },
    };
    expect(parseThresholds(settings)).toEqual({
      ok: true,
      thresholds: [
        threshold('memory.available', '100Mi', { reclaim: '0' }),
        threshold('nodefs.available', 0.10000000149011612),
        threshold('memory.available', '1Gi', { grace: 90, reclaim: '0' }),
      ],
    });
  });

  test('reads no settings as no thresholds', () => {
    expect(parseThresholds({})).toEqual({ ok: true, thresholds: [] });
  });

  test('drops exactly 0% and 100%, and asks no grace period for them', () => {
    const settings = { evictionHard: { 'pid.available': '100%' }, evictionSoft: { 'memory.available': '0%' } };
    expect(parseThresholds(settings)).toEqual({ ok: true, thresholds: [] });
  });

  test('keeps 0.0% and 100.0%', () => {
    expect(parseThresholds({ evictionHard: { 'pid.available': '0.0%', 'nodefs.available': '100.0%' } })).toEqual({
      ok: true,
      thresholds: [threshold('pid.available', 0), threshold('nodefs.available', 1)],
    });
  });

  test('repeats hard memory thresholds for allocatable memory where pods are enforced, a soft one without grace among them', () => {
    const settings: EvictionSettings = {
      evictionHard: { 'memory.available': '100Mi' },
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '0' },
      enforceNodeAllocatable: ['system-reserved', 'pods'],
    };
    expect(parseThresholds(settings)).toEqual({
      ok: true,
      thresholds: [
        threshold('memory.available', '100Mi'),
        threshold('memory.available', '1Gi'),
        threshold('allocatableMemory.available', '100Mi'),
        threshold('allocatableMemory.available', '1Gi'),
      ],
    });
  });

  test.each<[string, EvictionSettings, string]>([
    ['an unknown signal', { evictionHard: { 'memory.free': '0%' } }, 'unsupported eviction signal memory.free'],
    [
      'our own signals',
      { evictionSoft: { 'cpu.available': '1' }, ...LATER },
      'unsupported eviction signal cpu.available',
    ],
    ['an inherited name', { evictionHard: { toString: '1Gi' } }, 'unsupported eviction signal toString'],
    [
      'an unknown signal with a grace period',
      { evictionSoftGracePeriod: { nodefs: '1s' } },
      'unsupported eviction signal nodefs',
    ],
    [
      'an unknown signal with a minimum reclaim',
      { evictionMinimumReclaim: { '': '1' } },
      'unsupported eviction signal ',
    ],
    [
      'a share below 0',
      { evictionHard: { 'pid.available': '-1%' } },
      'eviction percentage threshold pid.available must be >= 0%: -1%',
    ],
    [
      'a share above 1',
      { evictionHard: { 'pid.available': '101%' } },
      'eviction percentage threshold pid.available must be <= 100%: 101%',
    ],
    [
      'an infinite share',
      { evictionHard: { 'pid.available': 'Inf%' } },
      'eviction percentage threshold pid.available must be <= 100%: Inf%',
    ],
    [
      'a share that is no number',
      { evictionHard: { 'pid.available': '%' } },
      'strconv.ParseFloat: parsing "": invalid syntax',
    ],
    [
      'an amount of 0',
      { evictionHard: { 'pid.available': '0Gi' } },
      'eviction threshold pid.available must be positive: 0',
    ],
    [
      'an amount below 0',
      { evictionHard: { 'pid.available': '-1Gi' } },
      'eviction threshold pid.available must be positive: -1Gi',
    ],
    [
      'no amount',
      { evictionHard: { 'pid.available': 'abc' } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'an unknown suffix',
      { evictionMinimumReclaim: { 'pid.available': '1gi' } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'a suffix of known letters',
      { evictionMinimumReclaim: { 'pid.available': '1Em' } },
      "unable to parse quantity's suffix",
    ],
    [
      'a negative minimum reclaim',
      { evictionMinimumReclaim: { 'pid.available': '-1' } },
      'negative eviction minimum reclaim specified for pid.available',
    ],
    [
      'a minimum reclaim of 0%',
      { evictionMinimumReclaim: { 'pid.available': '0%' } },
      'eviction percentage minimum reclaim pid.available must be positive: 0%',
    ],
    [
      'a minimum reclaim that is no share',
      { evictionMinimumReclaim: { 'pid.available': 'x%' } },
      'strconv.ParseFloat: parsing "x": invalid syntax',
    ],
    [
      'a negative grace period',
      { evictionSoftGracePeriod: { 'pid.available': '-1s' } },
      'invalid eviction grace period specified: -1s, must be a positive value',
    ],
    [
      'a grace period without unit',
      { evictionSoftGracePeriod: { 'pid.available': '1' } },
      'time: missing unit in duration "1"',
    ],
    [
      'a missing grace period',
      { evictionSoft: { 'pid.available': '5%' }, ...LATER },
      'grace period must be specified for the soft eviction threshold pid.available',
    ],
  ])('refuses %s', (_, settings, mistake) => {
    expect(parseThresholds(settings)).toEqual({ ok: false, mistakes: [mistake] });
  });

  test('reports every mistake, in the order in which the kubelet would meet them', () => {
    const settings: EvictionSettings = {
      evictionHard: { a: '1', 'pid.available': '0' },
      evictionSoft: { 'memory.available': '5%' },
      evictionSoftGracePeriod: { b: '1s' },
    };
    expect(parseThresholds(settings)).toEqual({
      ok: false,
      mistakes: [
        'unsupported eviction signal a',
        'eviction threshold pid.available must be positive: 0',
        'unsupported eviction signal b',
        'grace period must be specified for the soft eviction threshold memory.available',
      ],
    });
  });
});
