import { describe, expect, test } from 'vitest';
import {
  evictionsOf,
  lostByNamespace,
  namespaceLimit,
  ownerDisruptedAt,
  recentEvictions,
  freeSlotsOnNode,
  type PastEviction,
} from '#shared/decide/eviction/history/eviction-state.ts';

const NOW = 10_000_000;
const LIMITS = { concurrent: 1, perMinute: 2, perTenMinutes: 3, perNamespacePerTenMinutes: 2 };

/** An eviction so many milliseconds ago. */
function ago(ms: number, more: Partial<PastEviction> = {}): PastEviction {
  return { at: NOW - ms, uid: 'uid', namespace: 'team', owner: 'team/ReplicaSet/web', resource: 'memory', ...more };
}

describe('the windows of evictions', () => {
  test('forget an eviction after an hour', () => {
    expect(recentEvictions([ago(3_600_000), ago(3_599_999), ago(0)], NOW)).toEqual([ago(3_599_999), ago(0)]);
  });

  test('count each resource apart', () => {
    expect(evictionsOf([ago(1), ago(2, { resource: 'cpu' })], 'memory')).toEqual([ago(1)]);
  });

  test.each([
    ['all that a minute allows', [], 2],
    ['less after one', [ago(59_999)], 1],
    ['all again after a minute', [ago(60_000)], 2],
    ['no more than ten minutes allow', [ago(60_000), ago(599_999)], 1],
    ['all again after ten minutes', [ago(600_000), ago(600_000)], 2],
    ['never less than nothing', [ago(1), ago(2), ago(3), ago(4)], 0],
  ])('leave %s', (_, past, room) => {
    expect(freeSlotsOnNode(past, LIMITS, NOW)).toBe(room);
  });

  test('count what each namespace lost within ten minutes', () => {
    const past = [
      ago(600_000),
      ago(599_999),
      ago(1),
      ago(1, { namespace: 'other' }),
      ago(600_000, { namespace: 'old' }),
    ];
    expect([...lostByNamespace(past, NOW)]).toEqual([
      ['team', 2],
      ['other', 1],
    ]);
  });

  test.each([
    [1, undefined],
    [2, 'NamespaceLimit'],
    [3, 'NamespaceLimit'],
  ])('a namespace that lost %d pods is limited by %s', (count, code) => {
    expect(namespaceLimit('team', count, LIMITS)?.code).toBe(code);
  });

  test('know when a pod of the same owner was last evicted', () => {
    const past = [ago(300), ago(200), ago(100, { owner: undefined }), ago(50, { owner: 'team/Job/other' })];
    expect(ownerDisruptedAt(past, 'team/ReplicaSet/web')).toBe(NOW - 200);
    expect(ownerDisruptedAt(past, 'team/ReplicaSet/none')).toBeUndefined();
    expect(ownerDisruptedAt(past, undefined)).toBeUndefined();
  });
});
