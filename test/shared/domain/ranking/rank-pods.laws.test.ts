import fc from 'fast-check';
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
import { compareCandidates } from '#test/build/compare-candidates.ts';
import { candidate, names, pod, usage } from './builders.ts';

const MI = 2 ** 20;

interface Someone {
  readonly uid: string;
  readonly priority: number | undefined;
  readonly request: string | undefined;
  readonly used: number | undefined;
  readonly controller: string | undefined;
  readonly startTime: string | undefined;
  readonly isMarkedLast: boolean;
  readonly ownerDisruptedAt: number | undefined;
}

describe('laws of rankPods', () => {
  const someone = fc.record<Someone>({
    uid: fc.uuid(),
    priority: fc.constantFrom(undefined, 0, -1, 100, -(2 ** 31), 2 ** 31 - 1),
    request: fc.constantFrom(undefined, '1', '1500m', '100Mi', '1Gi', '8Ei', '1e30'),
    used: fc.option(fc.constantFrom(0, 1, 2, 100 * MI, 2 ** 53, 2 ** 60), { nil: undefined }),
    controller: fc.constantFrom(undefined, 'ReplicaSet', 'DaemonSet'),
    startTime: fc.constantFrom(undefined, '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'),
    isMarkedLast: fc.boolean(),
    ownerDisruptedAt: fc.constantFrom(undefined, 1, 2),
  });
  const crowd = fc
    .uniqueArray(someone, { selector: ({ uid }) => uid, maxLength: 40 })
    .map((people) => people.map(build));
  const policies = fc.record<RankingPolicy>({
    ranking: fc.oneof(
      fc.constantFrom('Kubernetes' as const, 'ShareOfRequest' as const),
      fc.record({ keys: fc.shuffledSubarray(Object.keys(POLICY_KEYS) as PolicyKeyName[]) }),
    ),
    missingStats: fc.constantFrom('Never' as const, 'Last' as const, 'First' as const),
    daemonSets: fc.constantFrom('Last' as const, 'Rank' as const),
  });

  function build(each: Someone): Candidate {
    const { uid, priority, request, used, controller, startTime } = each;
    const of = pod(uid, {
      ...(priority === undefined ? {} : { priority }),
      ...(request === undefined ? {} : { requests: { memory: request } }),
      ...(controller === undefined ? {} : { controller }),
      ...(startTime === undefined ? {} : { startTime }),
    });
    return candidate(of, used === undefined ? undefined : usage({ memoryBytes: used }), 'memory.available', each);
  }

  test('a policy ranks the same pods the same way whatever order they come in', () => {
    fc.assert(
      fc.property(crowd, policies, fc.infiniteStream(fc.nat()), (candidates, policy, random) => {
        const order = policyOrder(policy, 'memory');
        const places = [...random.take(candidates.length)];
        const shuffled = candidates.map((each, index) => [places[index] ?? 0, each] as const).sort(([a], [b]) => a - b);
        expect(
          names(
            rankPods(
              shuffled.map(([, each]) => each),
              order,
            ),
          ),
        ).toEqual(names(rankPods(candidates, order)));
      }),
    );
  });

  test('a ranking holds every candidate once, and each goes before all that follow', () => {
    fc.assert(
      fc.property(crowd, policies, (candidates, policy) => {
        const order = policyOrder(policy, 'memory');
        const ranked = rankPods(candidates, order);
        expect(new Set(ranked)).toEqual(new Set(candidates));
        ranked.forEach((each, index) => {
          for (const later of ranked.slice(index + 1)) expect(compareCandidates(each, later, order)).toBeLessThan(0);
        });
      }),
      { numRuns: 50 },
    );
  });

  test('the kubelet’s order agrees with a plain stable sort by its keys', () => {
    fc.assert(
      fc.property(crowd, fc.constantFrom('memory' as const, 'pids' as const), (candidates, resource) => {
        const order: RankingOrder = kubeletOrder(resource);
        const plain = candidates.toSorted((left, right) => compareCandidates(left, right, order));
        expect(names(rankPods(candidates, order))).toEqual(names(plain));
      }),
    );
  });
});
