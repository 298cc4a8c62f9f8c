import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AvoidEntry } from '#shared/domain/nodes/avoid-nodes.ts';
import type { OwnerKey } from '#shared/domain/pod/pod.ts';
import type { RecordedEviction } from '#shared/domain/nodes/evicted-owners.ts';
import type { LoopRecord } from '#shared/domain/preemption/loop/loop-record.ts';
import { type AvoidPlan, type AvoidPolicy, planAvoidance } from '#shared/domain/nodes/plan-avoidance.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const LOOP = { rounds: 3, windowMs: 60 * MINUTE, isForbidding: false };
const POLICY: AvoidPolicy = { avoidForMs: 10 * MINUTE, longestMs: 60 * MINUTE, loop: LOOP };
const WEB = owner('web');

function owner(name: string, kind = 'ReplicaSet'): OwnerKey {
  return { namespace: 'default', kind, name, uid: undefined };
}

function evicted(minutesAgo: number, fields: Partial<RecordedEviction> = {}): RecordedEviction {
  const requestedAt = NOW - minutesAgo * MINUTE;
  const from = { uid: `u${minutesAgo}`, owner: WEB, signal: 'memory.available' };
  return { ...from, mode: 'Enforce', outcome: 'evicted', requestedAt, ...fields };
}

function entry(fields: Partial<AvoidEntry> = {}): AvoidEntry {
  return { owner: WEB, until: NOW + 5 * MINUTE, cause: 'earlier', hard: false, ...fields };
}

function plan(evictions: readonly RecordedEviction[], avoid: readonly AvoidEntry[] = [], policy = POLICY): AvoidPlan {
  return planAvoidance({ name: 'n1', avoid, evictions, preemptionLoops: [] }, policy, NOW);
}

const LOOPING: LoopRecord = {
  preemptor: owner('api'),
  victim: WEB,
  preemptorUid: 'u',
  priority: 10,
  rounds: [NOW - 20 * MINUTE, NOW - 10 * MINUTE, NOW - MINUTE],
  until: NOW + 40 * MINUTE,
  action: 'Avoid',
};

function planFor(record: Partial<LoopRecord>, evictions: readonly RecordedEviction[] = [], policy = POLICY): AvoidPlan {
  return planAvoidance({ name: 'n1', avoid: [], evictions, preemptionLoops: [{ ...LOOPING, ...record }] }, policy, NOW);
}

describe('planAvoidance where preemptions are a loop', () => {
  test('the owner of the victim is kept away until the loop has ended, and later passes write nothing', () => {
    const cause =
      'pods of default/ReplicaSet/api and default/ReplicaSet/web displace each other: 3 times within 60 min, last on node n1';
    const { avoid, changes } = planFor({});
    expect(avoid).toEqual([entry({ until: NOW + 40 * MINUTE, cause })]);
    expect(changes.map(({ because }) => because.code)).toEqual(['PreemptionLoop']);
    const again = planAvoidance({ name: 'n1', avoid, evictions: [], preemptionLoops: [LOOPING] }, POLICY, NOW + MINUTE);
    expect(again).toEqual({ avoid, changes: [], isChanged: false });
  });

  test.each(['Refuse', 'Report', undefined] as const)('with the action %s nobody is kept away', (action) => {
    expect(planFor({ action })).toEqual({ avoid: [], changes: [], isChanged: false });
  });

  test('never longer than the longest time, and not for rounds in the future', () => {
    expect(planFor({ until: NOW + 900 * MINUTE }).avoid).toMatchObject([{ until: NOW + 59 * MINUTE }]);
    expect(planFor({ rounds: [NOW + 2 * MINUTE] }).avoid).toEqual([]);
  });

  test('where loops forbid a node this one does, too, except to a DaemonSet', () => {
    const policy = { ...POLICY, loop: { ...LOOP, isForbidding: true } };
    expect(planFor({}, [], policy).avoid).toMatchObject([{ hard: true }]);
    expect(planFor({ victim: owner('logs', 'DaemonSet') }, [], policy).avoid).toMatchObject([{ hard: false }]);
  });

  test('an owner that was evicted as well has one entry, the longer one, with or without its UID', () => {
    const known = { ...WEB, uid: 'u-web' };
    expect(planFor({}, [evicted(1, { owner: known })]).avoid).toMatchObject([{ owner: WEB, until: NOW + 40 * MINUTE }]);
    expect(planFor({ until: NOW + MINUTE }, [evicted(1, { owner: known })]).avoid).toMatchObject([{ owner: known }]);
  });

  test('an owner that was evicted as well has one entry, the longer one', () => {
    expect(planFor({}, [evicted(1)]).avoid).toMatchObject([{ until: NOW + 40 * MINUTE }]);
    expect(planFor({ until: NOW + MINUTE }, [evicted(1)]).avoid).toMatchObject([{ until: NOW + 9 * MINUTE }]);
  });
});

describe('planAvoidance', () => {
  test('an owner is kept away for the time of the policy after an eviction', () => {
    const wanted = entry({ until: NOW + 9 * MINUTE, cause: 'evicted from node n1 for memory.available' });
    expect(plan([evicted(1)])).toEqual({
      avoid: [wanted],
      changes: [
        {
          entry: wanted,
          because: {
            code: 'EvictedHere',
            text: 'evicted from node n1 for memory.available',
            facts: { node: 'n1', owner: 'default/ReplicaSet/web', rounds: 1, signal: 'memory.available' },
          },
        },
      ],
      isChanged: true,
    });
  });

  test('an owner that was made again under the same name did not come back', () => {
    const [before, after] = ['u-1', 'u-2'].map((uid) => ({ ...WEB, uid }));
    const { avoid } = plan([
      evicted(1, { owner: after }),
      evicted(5, { owner: before }),
      evicted(9, { owner: before }),
    ]);
    expect(avoid).toMatchObject([
      { owner: before, until: NOW + 15 * MINUTE },
      { owner: after, until: NOW + 9 * MINUTE },
    ]);
    expect(plan([evicted(1, { owner: after })], avoid).isChanged).toBe(false);
  });

  test('an owner that came back is kept away for twice the time', () => {
    const { avoid, changes } = plan([evicted(1), evicted(5)]);
    expect(avoid.map(({ until }) => until)).toEqual([NOW + 19 * MINUTE]);
    expect(changes.map(({ because }) => because.code)).toEqual(['EvictedAgain']);
  });

  test('the third round is a loop: the longest time, owner and node named', () => {
    const { avoid, changes } = plan([evicted(1), evicted(5), evicted(9)]);
    expect(avoid).toMatchObject([{ until: NOW + 59 * MINUTE, hard: false }]);
    expect(changes[0]?.because).toMatchObject({
      code: 'EvictionLoop',
      text: 'pods of default/ReplicaSet/web return to node n1 and are evicted there: 3 times within 60 min, last for memory.available',
    });
  });

  test('where the policy says so a loop forbids the node, except to a DaemonSet', () => {
    const policy = { ...POLICY, loop: { ...LOOP, isForbidding: true } };
    const rounds = [evicted(1), evicted(5), evicted(9)];
    const ofDaemons = rounds.map((each) => ({ ...each, owner: owner('logs', 'DaemonSet') }));
    expect(plan(rounds, [], policy).avoid).toMatchObject([{ hard: true }]);
    expect(plan(ofDaemons, [], policy).avoid).toMatchObject([{ hard: false, until: NOW + 59 * MINUTE }]);
  });

  test('several pods of an owner that one shortage evicts are one round', () => {
    const together = [evicted(2), evicted(1.75), evicted(1.5)];
    expect(plan(together).changes.map(({ because }) => because.facts['rounds'])).toEqual([1]);
  });

  /** Seconds ago: when pods were evicted, and when they had started. */
  const inSeconds = (...pods: readonly (readonly [evictedAgo: number, startedAgo: number | undefined])[]) =>
    pods.map(([evictedAgo, startedAgo]) => {
      const startedAt = startedAgo === undefined ? undefined : NOW - startedAgo * 1_000;
      return evicted(evictedAgo / 60, { startedAt });
    });

  test.each([
    ['a pod that comes back and leaks fast', inSeconds([140, 600], [126, 138], [6, 124]), 3],
    ['three within seconds, each come back', inSeconds([20, 600], [12, 18], [5, 10]), 3],
    ['replicas that one shortage evicts', inSeconds([20, 600], [15, 600], [10, 600]), 1],
    ['replicas, one of which had come back', inSeconds([20, 600], [15, 600], [10, 18], [8, 12]), 2],
    [
      'pods of an agent that does not record the start',
      inSeconds([140, undefined], [126, undefined], [6, undefined]),
      2,
    ],
  ])('%s: rounds count the returns', (_, evictions, rounds) => {
    expect(plan(evictions).changes.map(({ because }) => because.facts['rounds'])).toEqual([rounds]);
  });

  test.each<[string, Partial<RecordedEviction>]>([
    ['a dry run', { mode: 'DryRun' }],
    ['a refused eviction', { outcome: 'tooManyRequests' }],
    ['a pod that was already gone', { outcome: 'notFound' }],
    ['a pod that kube-scheduler preempted before the eviction (S3-32)', { outcome: 'foundPreempted' }],
    ['an eviction without an answer yet', { outcome: 'requested' }],
    ['a pod without a controller', { owner: undefined }],
    ['a mirror pod', { owner: owner('n1', 'Node') }],
    ['an eviction without a time', { requestedAt: undefined }],
  ])('%s adds no entry', (_, fields) => {
    expect(plan([evicted(1, fields)])).toEqual({ avoid: [], changes: [], isChanged: false });
  });

  test('a policy with avoidFor 0 adds none', () => {
    expect(plan([evicted(1), evicted(5), evicted(9)], [], { ...POLICY, avoidForMs: 0 }).avoid).toEqual([]);
  });

  test('an entry that ended goes, and nothing else changes', () => {
    const lasting = entry({ owner: owner('api') });
    expect(plan([], [entry({ until: NOW }), lasting])).toEqual({ avoid: [lasting], changes: [], isChanged: true });
  });

  test('an entry that lasts longer or forbids more stays as it is', () => {
    const longer = entry({ until: NOW + 30 * MINUTE, hard: true });
    expect(plan([evicted(1)], [longer])).toEqual({ avoid: [longer], changes: [], isChanged: false });
  });

  test('an entry that ends earlier is replaced, and one of another owner stays', () => {
    const other = entry({ owner: owner('api') });
    const { avoid } = plan([evicted(1)], [entry(), other]);
    expect(avoid.map((each) => [each.owner.name, each.until])).toEqual([
      ['web', NOW + 9 * MINUTE],
      ['api', NOW + 5 * MINUTE],
    ]);
  });

  test('of more owners than fit, those whose entries end first are left out', () => {
    const evictions = Array.from({ length: 32 }, (_, index) => evicted(1, { owner: owner(`new-${index}`) }));
    const present = Array.from({ length: 64 }, (_, index) =>
      entry({ owner: owner(`old-${index}`), until: NOW + (index + 1) * MINUTE }),
    );
    const { avoid } = plan(evictions, present);
    expect(avoid).toHaveLength(64);
    expect(Math.min(...avoid.map(({ until }) => until))).toBe(NOW + 9 * MINUTE);
  });

  test('an eviction up to a minute ahead of the clock adds an entry that later passes leave as it is', () => {
    const evictions = [evicted(-1)];
    const { avoid } = plan(evictions);
    expect(avoid).toMatchObject([{ until: NOW + 11 * MINUTE }]);
    const second = planAvoidance({ name: 'n1', avoid, evictions, preemptionLoops: [] }, POLICY, NOW + 1_000);
    expect(second).toEqual({ avoid, changes: [], isChanged: false });
  });

  test('an eviction further ahead of the clock than a minute adds no entry', () => {
    const ahead = evicted(0, { requestedAt: NOW + MINUTE + 1 });
    expect(plan([ahead])).toEqual({ avoid: [], changes: [], isChanged: false });
  });
});

const owners = fc.constantFrom(WEB, owner('api'), owner('logs', 'DaemonSet'), owner('n1', 'Node'), undefined);
const evictions = fc.array(
  fc.record({
    uid: fc.uuid(),
    owner: owners,
    signal: fc.constantFrom('memory.available', 'cpu.pressure'),
    mode: fc.constantFrom('DryRun' as const, 'Enforce' as const),
    outcome: fc.constantFrom('evicted', 'foundEnding', 'pretended', 'requested'),
    requestedAt: fc.option(fc.integer({ min: NOW - 120 * MINUTE, max: NOW + 10 * MINUTE }), { nil: undefined }),
  }),
  { maxLength: 32 },
);
const entries = fc.array(
  fc.record({
    owner: fc.nat(80).map((each) => owner(`o${each}`)),
    until: fc.integer({ min: NOW - 60 * MINUTE, max: NOW + 90 * MINUTE }),
    cause: fc.constant(''),
    hard: fc.boolean(),
  }),
  { maxLength: 64 },
);

describe('laws of planAvoidance', () => {
  const laws = { seed: 15, numRuns: 300 };

  test('planning again changes nothing', () => {
    fc.assert(
      fc.property(evictions, entries, (past, avoid) => {
        const first = plan(past, avoid);
        expect(plan(past, first.avoid)).toEqual({ avoid: first.avoid, changes: [], isChanged: false });
      }),
      laws,
    );
  });

  test('the order of the evictions makes no difference', () => {
    fc.assert(
      fc.property(evictions, entries, (past, avoid) => {
        expect(plan(past.toReversed(), avoid).avoid).toEqual(plan(past, avoid).avoid);
      }),
      laws,
    );
  });

  test('the list is bounded, every entry lasts, and none lasts longer than the policy allows from its eviction', () => {
    fc.assert(
      fc.property(evictions, entries, (past, avoid) => {
        const planned = plan(past, avoid);
        expect(planned.avoid.length).toBeLessThanOrEqual(64);
        expect(planned.avoid.every(({ until }) => until > NOW)).toBe(true);
        expect(planned.changes.every(({ entry: { until } }) => until <= NOW + MINUTE + POLICY.longestMs)).toBe(true);
      }),
      laws,
    );
  });
});
