import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  addDisplacement,
  contenderOf,
  type LoopPolicy,
  NO_ROUNDS,
  type PreemptionRounds,
  loopBetween,
} from '#shared/domain/preemption/loop/preemption-rounds.ts';
import {
  adoptRecords,
  isRefused,
  type LoopRecord,
  planRecords,
  refusalByRecord,
} from '#shared/domain/preemption/loop/loop-record.ts';
import { buildPod } from '#test/build/cluster.ts';

const MINUTE = 60_000;
const POLICY: LoopPolicy = { rounds: 3, windowMs: 60 * MINUTE };
const A = 'team/ReplicaSet/a';
const B = 'team/ReplicaSet/b';

/** The two displace each other in turn, once a minute from the first one, `B` first. */
function rounds(count: number, node = 'node-1', [first, second] = [B, A]): PreemptionRounds {
  let all = NO_ROUNDS;
  for (let minute = 1; minute <= count; minute += 1) {
    const [by, of] = minute % 2 === 1 ? [first, second] : [second, first];
    const at = minute * MINUTE;
    all = addDisplacement(
      all,
      { at, node, preemptor: { uid: `u${minute}`, party: by }, priority: 10 * minute, victim: { uid: 'v', party: of } },
      POLICY,
    );
  }
  return all;
}

function podOf(party: string, priority: number, uid = ''): Pod {
  const [namespace = '', kind = '', name = ''] = party.split('/');
  const owners = [{ apiVersion: 'apps/v1', kind, name, uid, isController: true }];
  return { ...buildPod({ name: 'p', namespace, priority }), owners };
}

const owner = (name: string) => ({ namespace: 'team', kind: 'ReplicaSet', name, uid: undefined });
const recorded = (all: PreemptionRounds, now = 5 * MINUTE): readonly LoopRecord[] =>
  planRecords(all, POLICY, 'Refuse', now).get('node-1') ?? [];

describe('planRecords', () => {
  test('a loop is recorded for the node of its latest round, with both sides, until its first round leaves the window', () => {
    expect(planRecords(rounds(3), POLICY, 'Refuse', 5 * MINUTE)).toEqual(
      new Map([
        [
          'node-1',
          [
            {
              preemptor: owner('b'),
              victim: owner('a'),
              preemptorUid: 'u3',
              priority: 10,
              rounds: [MINUTE, 2 * MINUTE, 3 * MINUTE],
              until: 61 * MINUTE,
              action: 'Refuse',
            },
          ],
        ],
      ]),
    );
  });

  test('two rounds are recorded without an action, one is not', () => {
    expect(recorded(rounds(2))).toMatchObject([{ action: undefined, until: 62 * MINUTE, preemptor: owner('a') }]);
    expect(recorded(rounds(1))).toEqual([]);
  });

  test('what has left the window is recorded no more', () => {
    expect(recorded(rounds(3), 61 * MINUTE)).toMatchObject([{ rounds: [2 * MINUTE, 3 * MINUTE], action: undefined }]);
    expect(recorded(rounds(3), 62 * MINUTE)).toEqual([]);
  });

  test('of too many on one node the latest ten', () => {
    let all = NO_ROUNDS;
    for (let pair = 0; pair < 12; pair += 1)
      for (const entry of rounds(2, 'node-1', [`n/Job/${pair}`, 'n/Job/x'])) all = new Map([...all, entry]);
    expect(recorded(all).map(({ victim }) => victim.name)).toEqual([
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
      '10',
      '11',
    ]);
  });
});

describe('adoptRecords', () => {
  const before = 4 * MINUTE;
  const adopt = (records: readonly LoopRecord[], known = NO_ROUNDS) =>
    adoptRecords(known, { node: 'node-1', records, before }, POLICY);
  const loopIn = (known: PreemptionRounds, now = 5 * MINUTE) =>
    loopBetween(known, { preemptor: A, victim: B }, POLICY, now);

  test('after a restart a loop goes on, and a count as well', () => {
    expect(loopIn(adopt(recorded(rounds(3))))).toMatchObject({ facts: { rounds: 3, node: 'node-1' } });
    const third = { preemptor: { uid: 'u3', party: B }, priority: 10, victim: { uid: 'v', party: A } };
    const known = adopt(recorded(rounds(2)));
    expect(loopIn(known)).toBeUndefined();
    expect(loopIn(addDisplacement(known, { at: 5 * MINUTE, node: 'node-1', ...third }, POLICY))).toBeDefined();
  });

  test('what is adopted is recorded as it was', () => {
    for (const count of [2, 3]) expect(recorded(adopt(recorded(rounds(count))))).toEqual(recorded(rounds(count)));
  });

  test('reading the same records again changes nothing', () => {
    const known = adopt(recorded(rounds(3)));
    expect(adopt(recorded(rounds(3)), known)).toBe(known);
    expect(adopt(recorded(rounds(2)), known)).toBe(known);
  });

  test('rounds since the start are those that the process has seen itself', () => {
    const [record] = recorded(rounds(3));
    const made = { ...(record as LoopRecord), rounds: [before, before + 1, 99 * MINUTE] };
    expect(adopt([made])).toBe(NO_ROUNDS);
  });

  test('a record that names one owner twice, or more rounds than are allowed, refuses no more than others', () => {
    const [record] = recorded(rounds(3)) as [LoopRecord];
    expect(adopt([{ ...record, victim: record.preemptor }])).toBe(NO_ROUNDS);
    const many = adopt([{ ...record, rounds: Array.from({ length: 16 }, (_, second) => second * 1000) }]);
    expect([...many.values()].map(({ length }) => length)).toEqual([3]);
    expect(loopIn(many, 60 * MINUTE + 13_000)).toBeUndefined();
  });
});

describe('isRefused', () => {
  const sides = { preemptor: 'n/ReplicaSet/a', victim: 'n/ReplicaSet/b', priority: 10 };

  test.each(['ReplicaSet', 'StatefulSet', 'Job'])('with the action Avoid a %s is kept away instead', (kind) => {
    const party = `n/${kind}/b`;
    const all = rounds(3, 'node-1', ['n/ReplicaSet/a', party]);
    expect(isRefused(all, { preemptor: party, victim: 'n/ReplicaSet/a', priority: 10 }, 'Avoid')).toBe(false);
    expect(isRefused(all, { preemptor: party, victim: 'n/ReplicaSet/a', priority: 10 }, 'Refuse')).toBe(true);
  });

  test.each(['Pod', 'DaemonSet'])('a %s, which no avoid entry leads elsewhere, is refused all the same', (kind) => {
    const party = `n/${kind}/b`;
    const all = rounds(3, 'node-1', ['n/ReplicaSet/a', party]);
    expect(isRefused(all, { preemptor: party, victim: 'n/ReplicaSet/a', priority: 10 }, 'Avoid')).toBe(true);
    expect(planRecords(all, POLICY, 'Avoid', 5 * MINUTE).get('node-1')).toMatchObject([{ action: 'Refuse' }]);
  });

  test.each<[string, readonly number[], number, boolean]>([
    ['what its equals did', [10, 10, 10], 10, true],
    ['what its equals and higher ones did', [20, 10, 30], 10, true],
    ['what a lower one did in one round', [20, 9, 30], 10, false],
    ['what lower ones did in all rounds', [1, 2, 3], 10, false],
  ])('a pod is held for %s: %j', (_, priorities, priority, expected) => {
    const all = new Map(
      Array.from(rounds(3), ([pair, own]) => [
        pair,
        own.map((round, index) => ({ ...round, priority: priorities[index] ?? 0 })),
      ]),
    );
    expect(isRefused(all, { preemptor: A, victim: B, priority }, 'Refuse')).toBe(expected);
    const [{ preemptor, victim, ...record }] = recorded(all) as [LoopRecord];
    const [a, b] = [A, B].map((party) => podOf(party, priority)) as [Pod, Pod];
    const onNode = [{ preemptor, victim, ...record, node: 'node-1' }];
    expect(refusalByRecord(onNode, { preemptor: a, victim: b }, 5 * MINUTE) !== undefined).toBe(expected);
    const known = adoptRecords(NO_ROUNDS, { node: 'node-1', records: onNode, before: 4 * MINUTE }, POLICY);
    expect(isRefused(known, { preemptor: A, victim: B, priority }, 'Refuse')).toBe(expected);
  });

  test('a record that does not say how high its pods were holds none', () => {
    const [record] = recorded(rounds(3)) as [LoopRecord];
    const known = adoptRecords(
      NO_ROUNDS,
      { node: 'node-1', records: [{ ...record, priority: undefined }], before: 4 * MINUTE },
      POLICY,
    );
    expect(isRefused(known, { preemptor: A, victim: B, priority: 0 }, 'Refuse')).toBe(false);
    expect(recorded(known)).toMatchObject([{ priority: undefined }]);
  });

  test('another controller of the same name is another side', () => {
    const [old, anew] = ['old', 'new'].map((uid) => podOf(A, 10, uid)) as [Pod, Pod];
    const victim = podOf(B, 0);
    const all = rounds(3, 'node-1', [B, contenderOf(old).party]);
    const refused = (preemptor: Pod): boolean => {
      const attempt = { preemptor: contenderOf(preemptor).party, victim: B, priority: 10 };
      const records = recorded(all).map((record) => ({ ...record, node: 'node-1' }));
      expect(refusalByRecord(records, { preemptor, victim }, 5 * MINUTE) !== undefined).toBe(
        isRefused(all, attempt, 'Refuse'),
      );
      return isRefused(all, attempt, 'Refuse');
    };
    expect([refused(old), refused(anew)]).toEqual([true, false]);
    expect(recorded(all)).toMatchObject([{ victim: { uid: 'old', name: 'a' } }]);
  });

  test('a dry run refuses nothing', () => {
    expect(isRefused(rounds(3, 'node-1', [sides.preemptor, sides.victim]), sides, 'Report')).toBe(false);
  });
});
