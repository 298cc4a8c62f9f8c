import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  type OwnerStop,
  type PastMove,
  type PolicyMemory,
  NO_MEMORY,
  rememberMoves,
  resolveMoves,
} from '#shared/domain/rescheduling/memory.ts';
import { buildNode } from '#test/build/cluster.ts';
import { clusterWith, NOON, replica } from '#test/build/rescheduling.ts';

const HOUR = 3_600_000;
const NODES = ['a', 'b', 'c'].map((name) => buildNode({ name }));
const OWNER = 'default/ReplicaSet/web owner-web';

/** A move from a to b a minute ago, of which 10 points were expected. */
function move(uid: string, change: Partial<PastMove> = {}): PastMove {
  return {
    uid,
    policy: 'underused',
    from: 'a',
    expectedOn: 'b',
    at: NOON - 60_000,
    expected: 10,
    sourceLoad: [],
    replicas: 3,
    replacement: undefined,
    ...change,
  };
}

function placed(uid: string, node: string, reached = 10) {
  return { replacement: { uid, node, reached } };
}

interface Asked {
  readonly pods?: readonly Pod[];
  readonly stop?: OwnerStop;
  readonly policy?: PolicyMemory;
  readonly reached?: number;
  readonly isFailing?: boolean;
}

/** The memory at the beginning of a pass at noon. */
function settle(moves: readonly PastMove[], { pods = [], stop, policy, reached = 10, isFailing = false }: Asked = {}) {
  const policies = new Map(policy === undefined ? [] : [['underused', policy] as const]);
  const memory = { ...NO_MEMORY, owners: new Map([[OWNER, { moves, stop }]]), policies };
  const judgement = { reachedBy: () => () => reached, isFailing: () => isFailing };
  const after = resolveMoves(memory, clusterWith({ nodes: NODES, pods }), judgement);
  return { owner: after.owners.get(OWNER), policy: after.policies.get('underused') };
}

function young(name: string, node: string, startedAt: number | undefined = NOON - 30_000): Pod {
  const pod = replica({ name, node });
  return { ...pod, status: { ...pod.status, startTime: startedAt } };
}

/** A pod that has not started. */
function waiting(name: string, node: string): Pod {
  const pod = replica({ name, node });
  return { ...pod, status: { ...pod.status, startTime: undefined } };
}

describe('which pod replaces a moved one', () => {
  test.each<[string, readonly Pod[], string | undefined]>([
    ['the one that started after the move', [replica({ name: 'old', node: 'a' }), young('new', 'c')], 'uid-new'],
    ['the older of two', [young('late', 'b', NOON), young('early', 'b')], 'uid-early'],
    [
      'one that has started before one that has not',
      [waiting('x', 'b'), young('new', 'b'), waiting('y', 'b')],
      'uid-new',
    ],
    ['one that has not started, if there is no other', [waiting('x', 'b')], 'uid-x'],
    ['none of those that were there before', [replica({ name: 'old', node: 'a' })], undefined],
    ['none where the owner is gone', [], undefined],
    [
      'none of those that terminate',
      [{ ...young('new', 'b'), deletion: { at: NOON, gracePeriodSeconds: 1 } }],
      undefined,
    ],
  ])('%s', (_, pods, expected) => {
    expect(settle([move('m')], { pods }).owner?.moves[0]?.replacement?.uid).toBe(expected);
  });

  test('a pod replaces one pod only', () => {
    const moves = [move('m'), move('n'), move('o', placed('uid-taken', 'b'))];
    const pods = [young('taken', 'b'), young('first', 'b', NOON - 20_000), young('second', 'c', NOON - 10_000)];
    const uids = settle(moves, { pods }).owner?.moves.map(({ replacement }) => replacement?.uid);
    expect(uids).toEqual(['uid-first', 'uid-second', 'uid-taken']);
  });
});

describe('when an owner is left alone (S3-43)', () => {
  test.each<[string, readonly PastMove[], readonly string[] | undefined]>([
    ['after two returns', [move('m', placed('r', 'a')), move('n', placed('s', 'a'))], ['a']],
    ['not after one return', [move('m', placed('r', 'a')), move('n', placed('s', 'b'))], undefined],
    [
      'after three moves below half of their gain',
      ['m', 'n', 'o'].map((uid, at) => move(uid, placed(`r${uid}`, at === 0 ? 'c' : 'b', 4))),
      ['c', 'b'],
    ],
    [
      'not after three moves with half of their gain',
      ['m', 'n', 'o'].map((uid) => move(uid, placed(`r${uid}`, 'b', 5))),
      undefined,
    ],
    ['not after three moves that are not placed', ['m', 'n', 'o'].map((uid) => move(uid)), undefined],
  ])('%s', (_, moves, expected) => {
    expect(settle(moves).owner?.stop?.nodes).toEqual(expected);
  });

  test.each<[string, number, number | undefined]>([
    ['for a day', NOON + HOUR, NOON + HOUR],
    ['anew for moves since the last time only', NOON - 30_000, undefined],
    ['anew for what happened since the last time', NOON - 2 * HOUR, NOON + 24 * HOUR],
  ])('%s', (_, until, expected) => {
    const moves = [move('m', placed('r', 'a')), move('n', placed('s', 'a'))];
    expect(settle(moves, { stop: { until, text: 'before', nodes: [] } }).owner?.stop?.until).toBe(expected);
  });

  test('is forgotten with its moves after a day', () => {
    expect(settle([move('m', { at: NOON - 25 * HOUR })]).owner).toBeUndefined();
  });
});

describe('a replacement of a pod that failed', () => {
  const failed = move('m', { policy: 'badService', ...placed('uid-new', 'b') });

  test.each<[string, PastMove, readonly Pod[], boolean, number]>([
    ['brings nothing if it fails as well', failed, [young('new', 'b')], true, 0],
    ['keeps its gain while it works', failed, [young('new', 'b')], false, 10],
    ['keeps its gain once it is gone', failed, [young('other', 'b')], true, 10],
    ['keeps its gain once its owner is gone', failed, [], true, 10],
    ['is not judged anew for another reason', { ...failed, policy: 'underused' }, [young('new', 'b')], true, 10],
  ])('%s', (_, each, pods, isFailing, expected) => {
    expect(settle([each], { pods, isFailing }).owner?.moves[0]?.replacement?.reached).toBe(expected);
  });
});

describe('how many moves a policy makes', () => {
  const before = { expected: 0, reached: 0 };

  test.each<[string, PolicyMemory | undefined, number, Partial<PolicyMemory>]>([
    ['all at first', undefined, 10, { missed: 0, rate: 1 }],
    ['as many after a first miss', undefined, 4, { missed: 1, rate: 1, expected: 10, reached: 4 }],
    ['as many after a second miss', { ...before, missed: 1, rate: 1 }, 4, { missed: 2, rate: 1 }],
    ['half as many after a third miss', { ...before, missed: 2, rate: 1 }, 4, { missed: 3, rate: 0.5 }],
    ['never less than a sixteenth', { ...before, missed: 5, rate: 1 / 16 }, 4, { missed: 6, rate: 1 / 16 }],
    ['twice as many after half of the gain', { ...before, missed: 4, rate: 0.25 }, 5, { missed: 0, rate: 0.5 }],
    ['never more than all', { ...before, missed: 2, rate: 1 }, 10, { missed: 0, rate: 1 }],
  ])('%s', (_, policy, reached, expected) => {
    const asked = { pods: [young('new', 'b')], reached, ...(policy !== undefined && { policy }) };
    expect(settle([move('m')], asked).policy).toMatchObject(expected);
  });

  test('is not judged twice by one move', () => {
    expect(settle([move('m', placed('uid-new', 'b', 0))], { pods: [young('new', 'b')] }).policy).toBeUndefined();
  });
});

test('the newest 32 moves of an owner and the newest 5,000 owners are remembered', () => {
  const ofOne = rememberMoves(
    NO_MEMORY,
    Array.from({ length: 40 }, (_, n) => ({ owner: 'one', move: move(`m${n}`) })),
  );
  expect(ofOne.owners.get('one')?.moves.map(({ uid }) => uid)).toEqual(
    Array.from({ length: 32 }, (_, n) => `m${n + 8}`),
  );
  const many = rememberMoves(
    ofOne,
    Array.from({ length: 5_000 }, (_, n) => ({ owner: `o${n}`, move: move('m') })),
  );
  expect([many.owners.size, many.owners.has('one'), many.owners.has('o0')]).toEqual([5_000, false, true]);
});
