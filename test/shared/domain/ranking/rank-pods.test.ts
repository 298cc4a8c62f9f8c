import { describe, expect, test } from 'vitest';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import {
  type PolicyKeyName,
  type RankingOrder,
  type RankingPolicy,
  kubeletOrder,
  POLICY_KEYS,
  policyOrder,
} from '#shared/domain/ranking/ranking-order.ts';
import { candidate, names, pod, usage } from './builders.ts';

const MI = 2 ** 20;
const LENIENT: RankingPolicy = { ranking: 'Kubernetes', missingStats: 'Last', daemonSets: 'Last' };

function memory(name: string, usedMi: number, wish: Parameters<typeof pod>[1] = {}): Candidate {
  return candidate(pod(name, wish), usage({ memoryBytes: usedMi * MI }));
}

describe('rankPods in the order of the kubelet', () => {
  test('above its request, then lower priority, then more above its request', () => {
    const candidates = [
      memory('within', 900, { requests: { memory: '1Gi' } }),
      memory('high above', 1500, { requests: { memory: '1Gi' }, priority: 1000 }),
      memory('above', 1100, { requests: { memory: '1Gi' } }),
      memory('further above', 400, { requests: { memory: '100Mi' } }),
      memory('less above, by a larger share', 60, { requests: { memory: '10Mi' } }),
    ];
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual([
      'further above',
      'above',
      'less above, by a larger share',
      'high above',
      'within',
    ]);
  });

  test('who has no statistics goes first, whatever its priority', () => {
    const candidates = [
      memory('known', 500, { priority: -5 }),
      candidate(pod('unknown', { priority: 1000 }), undefined),
    ];
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(['unknown', 'known']);
  });

  test('of processes priority counts before missing statistics, and requests not at all', () => {
    const of = (name: string, processCount: number | undefined, priority: number) =>
      candidate(
        pod(name, { priority }),
        processCount === undefined ? undefined : usage({ processCount }),
        'pid.available',
      );
    const candidates = [of('many', 50, 1), of('unknown', undefined, 1), of('few', 2, 0)];
    expect(names(rankPods(candidates, kubeletOrder('pids')))).toEqual(['few', 'unknown', 'many']);
  });

  test('a milli-byte of request is seen', () => {
    const uses = (name: string, bytes: number, request: string) =>
      candidate(pod(name, { requests: { memory: request } }), usage({ memoryBytes: bytes }));
    const candidates = [uses('within', 1, '1500m'), uses('above', 2, '1500m'), uses('a little further', 2, '1499m')];
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(['a little further', 'above', 'within']);
  });

  test('amounts that differ by less than a double can hold are distinguished', () => {
    const within = (name: string, request: string) => memory(name, 1, { requests: { memory: request } });
    const candidates = [within('more', '9223372036854775807'), within('less', '9223372036854775806')];
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(['less', 'more']);
  });

  test('ties stay in the order given', () => {
    const candidates = ['c', 'a', 'b'].map((name) => memory(name, 10));
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(['c', 'a', 'b']);
  });

  test('ties stay in the order given among many, too', () => {
    const candidates = Array.from({ length: 100 }, (_, index) => memory(`p${index}`, index % 2));
    const expected = [1, 0].flatMap((rest) => names(candidates).filter((_, index) => index % 2 === rest));
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(expected);
  });

  test('a key that distinguishes equal places does so before every later key', () => {
    const large = '9223372036854775806';
    const pods = [
      memory('further above', 1, { requests: { memory: large }, priority: 1 }),
      memory('less above', 1, { requests: { memory: '9223372036854775807' }, priority: 0 }),
    ];
    const order = [POLICY_KEYS.usageAboveRequests, POLICY_KEYS.priority];
    expect(names(rankPods(pods.toReversed(), order))).toEqual(['further above', 'less above']);
  });

  test('no pods rank as no pods, and an order without keys changes nothing', () => {
    const candidates = [memory('b', 1), memory('a', 2)];
    expect([rankPods([], kubeletOrder('memory')), names(rankPods(candidates, []))]).toEqual([[], ['b', 'a']]);
  });
});

describe('rankPods in the order of a policy', () => {
  test('share of request: lower priority, then the larger part of the request, no request counting as infinite', () => {
    const candidates = [
      memory('high', 1500, { requests: { memory: '1Gi' }, priority: 10 }),
      memory('most of it', 900, { requests: { memory: '1Gi' } }),
      memory('all of it and more', 200, { requests: { memory: '100Mi' } }),
      memory('without request', 1),
      memory('idle without request', 0),
    ];
    const order = policyOrder({ ...LENIENT, ranking: 'ShareOfRequest' }, 'memory');
    expect(names(rankPods(candidates, order))).toEqual([
      'without request',
      'all of it and more',
      'most of it',
      'idle without request',
      'high',
    ]);
  });

  test('share of request of what cannot be requested: the larger amount', () => {
    const of = (name: string, processCount: number) => candidate(pod(name), usage({ processCount }), 'pid.available');
    const order = policyOrder({ ...LENIENT, ranking: 'ShareOfRequest' }, 'pids');
    expect(names(rankPods([of('few', 2), of('many', 50)], order))).toEqual(['many', 'few']);
  });

  test.each<[string, PolicyKeyName, readonly string[]]>([
    ['qos', 'qos', ['best effort', 'burstable', 'guaranteed']],
    ['run time, shortest first', 'runTime', ['guaranteed', 'burstable', 'best effort']],
    ['priority', 'priority', ['burstable', 'best effort', 'guaranteed']],
  ])('its own key list: %s', (_, key, ranked) => {
    const whole = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } };
    const candidates = [
      memory('burstable', 1, { requests: { memory: '1Mi' }, startTime: '2026-01-01T00:00:01Z', priority: -1 }),
      memory('guaranteed', 1, { spec: { priority: 7, containers: [{ name: 'c', resources: whole }] } }),
      memory('best effort', 1, { startTime: '2026-01-01T00:00:00Z' }),
    ];
    const order = policyOrder({ ...LENIENT, ranking: { keys: [key] } }, 'memory');
    expect(names(rankPods(candidates, order))).toEqual(ranked);
  });

  test.each<[RankingPolicy['missingStats'], readonly string[]]>([
    ['First', ['unknown', 'known']],
    ['Last', ['known', 'unknown']],
    ['Never', ['known', 'unknown']],
  ])('missing statistics %s', (missingStats, ranked) => {
    const candidates = [candidate(pod('unknown'), undefined), memory('known', 0, { requests: { memory: '1' } })];
    expect(names(rankPods(candidates, policyOrder({ ...LENIENT, missingStats }, 'memory')))).toEqual(ranked);
  });

  describe('wishes to go last', () => {
    const five = { requests: { memory: '5Mi' } };
    const marked = (name: string, usedMi: number): Candidate =>
      candidate(pod(name, five), usage({ memoryBytes: usedMi * MI }), 'memory.available', {
        isMarkedLast: true,
      });
    const candidates = [
      marked('marked above', 9),
      marked('marked within', 4),
      memory('daemon above', 8, { ...five, controller: 'DaemonSet' }),
      memory('daemon within', 3, { ...five, controller: 'DaemonSet' }),
      memory('plain above', 6, five),
      memory('plain within', 2, five),
    ];
    const ranked = (order: RankingOrder): readonly string[] => names(rankPods(candidates, order));

    test('count among pods that are above their request, and among those that keep to it', () => {
      expect(ranked(policyOrder(LENIENT, 'memory'))).toEqual([
        'plain above',
        'daemon above',
        'marked above',
        'plain within',
        'daemon within',
        'marked within',
      ]);
    });

    test('count for pods that keep to their request alone where the order does not ask for that', () => {
      expect(ranked(policyOrder({ ...LENIENT, ranking: 'ShareOfRequest' }, 'memory'))).toEqual([
        'marked above',
        'daemon above',
        'plain above',
        'plain within',
        'daemon within',
        'marked within',
      ]);
    });

    test('count among all where nothing can be requested', () => {
      const forker = (name: string, processCount: number, wish: Parameters<typeof pod>[1] = {}, isMarkedLast = false) =>
        candidate(pod(name, wish), usage({ processCount }), 'pid.available', { isMarkedLast });
      const forkers = [
        forker('marked', 9, {}, true),
        forker('daemon', 8, { controller: 'DaemonSet' }),
        forker('plain', 1),
      ];
      const order = policyOrder({ ...LENIENT, ranking: 'ShareOfRequest' }, 'pids');
      expect(names(rankPods(forkers, order))).toEqual(['plain', 'daemon', 'marked']);
    });

    test('do not count where they are to be ignored', () => {
      expect(ranked(policyOrder(LENIENT, 'memory', 'ignored'))).toEqual([
        'marked above',
        'daemon above',
        'plain above',
        'marked within',
        'daemon within',
        'plain within',
      ]);
    });
  });

  test('pods of DaemonSets rank like others where the policy says so', () => {
    const candidates = [memory('plain', 0), memory('daemon', 9, { controller: 'DaemonSet' })];
    const order = policyOrder({ ...LENIENT, daemonSets: 'Rank' }, 'memory');
    expect(names(rankPods(candidates, order))).toEqual(['daemon', 'plain']);
  });

  test('ties: owner hit longest ago, with a controller, newest, UID', () => {
    const tie = (name: string, wish: Parameters<typeof pod>[1], ownerDisruptedAt?: number) =>
      candidate(pod(name, wish), usage({ memoryBytes: 1 }), 'memory.available', { ownerDisruptedAt });
    const candidates = [
      tie('b', { startTime: '2026-01-01T00:00:01Z' }),
      tie('a', { startTime: '2026-01-01T00:00:01Z' }),
      tie('hit lately', {}, 200),
      tie('hit before', {}, 100),
      tie('new', { startTime: '2026-01-01T00:00:02Z' }),
      tie('starting', {}),
      tie('controlled', { controller: 'ReplicaSet', startTime: '2026-01-01T00:00:00Z' }),
    ];
    expect(names(rankPods(candidates, policyOrder(LENIENT, 'memory')))).toEqual([
      'controlled',
      'starting',
      'new',
      'a',
      'b',
      'hit before',
      'hit lately',
    ]);
  });

  test('a pod of a gang is last among equals, and no key of the policy gives way to that', () => {
    const of = (name: string, memoryBytes: number, priority: number, isOfGang = false) => {
      const ranked = candidate(pod(name, { priority }), usage({ memoryBytes }));
      return { ...ranked, facts: { ...ranked.facts, isOfGang } };
    };
    const candidates = [of('gang', 2, 0, true), of('equal', 2, 0), of('gang above', 3, 0, true), of('higher', 9, 1)];
    expect(names(rankPods(candidates, policyOrder(LENIENT, 'memory')))).toEqual([
      'gang above',
      'equal',
      'gang',
      'higher',
    ]);
    expect(names(rankPods(candidates, kubeletOrder('memory')))).toEqual(['gang above', 'gang', 'equal', 'higher']);
  });
});
