import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import {
  type IdleFor,
  nodesWithNominations,
  setAsideNodes,
} from '#shared/domain/placement/set-aside/set-aside-room.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { DAEMON_SETS, daemonSetPod } from '#test/build/daemon-set-pod.ts';

const NOW = 10_000_000;
const NODES = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '10', pods: '5' } }));
const UP_TO_MINUTE: IdleFor = () => MINUTE_MS;
const LONGER: IdleFor = () => MINUTE_MS + 1;

/** A pod, by what it asks of the 10 CPUs of a node. */
function pod(name: string, cpu: number, fields: Partial<PodFields> = {}): Pod {
  return buildPod({ name, priority: 5, requests: { cpu: String(cpu) }, ...fields });
}

const DELETED = { at: NOW, gracePeriodSeconds: 0 };
const promised = (cpu: number, priority: number) => pod('promised', cpu, { priority, nominatedTo: 'n0' });
const placed = (cpu: number) => pod('placed', cpu, { node: 'n0', priority: 1 });
const PREEMPTED = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
/** Preempted; ends in this many milliseconds. */
const ending = (cpu: number, inMs: number, priority = 1, conditions = PREEMPTED) =>
  pod('ending', cpu, { node: 'n0', priority, conditions, deletion: { at: NOW + inMs, gracePeriodSeconds: 30 } });

/** The nodes that are left to the pod `incoming`. */
function left(incoming: Pod, pods: readonly Pod[], idleFor: IdleFor = () => 0, daemonSets = DAEMON_SETS): string {
  const snapshot = { ...createSnapshot({ nodes: NODES, pods }), daemonSets };
  const found = finish(setAsideNodes(snapshot, ['n0', 'n1', 'unknown'], { pod: incoming, now: NOW, idleFor }));
  for (const { code } of found.values()) expect(code).toBe('RoomSetAside');
  return ['n0', 'n1', 'unknown'].filter((node) => !found.has(node)).join(' ');
}

const ALL = 'n0 n1 unknown';
const OTHERS = 'n1 unknown';

describe('whose room it is', () => {
  test.each<[string, Pod, readonly Pod[], string]>([
    ['that of a pod of higher priority', pod('p', 4), [promised(8, 6)], OTHERS],
    ['that of a pod of the same priority', pod('p', 4), [promised(8, 5)], OTHERS],
    ['not that of a pod of lower priority', pod('p', 4), [promised(8, 4)], ALL],
    ['not its own', promised(8, 5), [promised(8, 5)], ALL],
    ['not where both fit', pod('p', 2), [promised(8, 6)], ALL],
    ['not where both fit only beside no other', pod('p', 2), [promised(8, 6), placed(1)], OTHERS],
    [
      'that of several pods together',
      pod('p', 4),
      [promised(4, 6), pod('second', 4, { priority: 6, nominatedTo: 'n0' })],
      OTHERS,
    ],
    ['that of a DaemonSet, from a pod of higher priority (S2-38)', pod('p', 4), [daemonSetPod(promised(8, 1))], OTHERS],
    [
      'not that of a DaemonSet, from a system pod',
      pod('p', 4, { priority: 2_000_000_000 }),
      [daemonSetPod(promised(8, 1))],
      ALL,
    ],
    [
      'not that of an owner which only has the name of a DaemonSet',
      pod('p', 4),
      [daemonSetPod(promised(8, 1), 'example.test/v1')],
      ALL,
    ],
    ['not that of a pod that is being deleted', pod('p', 4), [{ ...promised(8, 6), deletion: DELETED }], ALL],
    ['that of a pod slot', pod('p', 0), [...four(), promised(0, 6)], OTHERS],
    ['not where there is a slot more', pod('p', 0), [...four().slice(1), promised(0, 6)], ALL],
  ])('%s', (_, incoming, pods, expected) => {
    expect(left(incoming, pods)).toBe(expected);
  });

  test('not that of a pod which names a DaemonSet that does not exist', () => {
    expect(left(pod('p', 4), [daemonSetPod(promised(8, 1))], () => 0, new Map())).toBe(ALL);
  });

  test.each<[string, Pod, string]>([
    ['the higher priority goes first, also before a DaemonSet', pod('z', 8, { priority: 7, nominatedTo: 'n0' }), ALL],
    ['of equal ones the lower UID goes first', pod('a', 8, { priority: 6, nominatedTo: 'n0' }), ALL],
    ['of equal ones the higher UID waits', pod('z', 8, { priority: 6, nominatedTo: 'n0' }), OTHERS],
    ['the lower priority waits', pod('a', 8, { priority: 5, nominatedTo: 'n0' }), OTHERS],
  ])('of two pods nominated to the same node %s', (_, incoming, expected) => {
    expect(left(incoming, [incoming, daemonSetPod(promised(8, 6))])).toBe(expected);
  });
});

function four(): readonly Pod[] {
  return ['a', 'b', 'c', 'd'].map((name) => pod(name, 0, { node: 'n0' }));
}

describe('what is free beside set-aside room', () => {
  test.each<[string, Pod, readonly Pod[], string]>([
    ['room that victims leave is not', pod('p', 4), [promised(8, 6), ending(6, 1_000)], OTHERS],
    ['room beyond that is', pod('p', 2), [promised(8, 6), ending(6, 1_000)], ALL],
    ['room of victims that are not terminating yet is not', pod('p', 2), [promised(8, 6), placed(6)], OTHERS],
    ['a pod that ends without a preemption leaves room too', pod('p', 2), [promised(8, 6), ending(6, 1_000, 9)], ALL],
  ])('%s', (_, incoming, pods, expected) => {
    expect(left(incoming, pods)).toBe(expected);
  });
});

describe('how long room is set aside', () => {
  test.each<[string, readonly Pod[], IdleFor, string]>([
    ['while victims terminate', [promised(8, 6), ending(6, 30_000)], LONGER, OTHERS],
    ['no longer than a minute while others terminate', [promised(8, 6), ending(6, 30_000, 1, [])], LONGER, ALL],
    ['up to a minute beyond their grace period', [promised(8, 6), ending(6, -MINUTE_MS)], LONGER, OTHERS],
    ['no longer than that (S1-33)', [promised(8, 6), ending(6, -MINUTE_MS - 1)], () => 0, ALL],
    ['not by a clock that is far behind', [promised(8, 6), ending(6, 30_000 + MINUTE_MS + 1)], () => 0, ALL],
    ['while a hanging pod is not in the way', [promised(8, 6), ending(2, -MINUTE_MS - 1)], () => 0, OTHERS],
    ['for a minute after the room is free', [promised(8, 6)], UP_TO_MINUTE, OTHERS],
    ['no longer, if the pod is not placed', [promised(8, 6)], LONGER, ALL],
    ['for a minute before the first victim goes', [promised(8, 6), placed(6)], UP_TO_MINUTE, OTHERS],
    ['no longer, if none goes', [promised(8, 6), placed(6)], LONGER, ALL],
  ])('%s', (_, pods, idleFor, expected) => {
    expect(left(pod('p', 4), pods, idleFor)).toBe(expected);
  });

  test('until the pod is bound, loses its nomination or is gone', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [] });
    const isKept = () => nodesWithNominations(snapshot, ['n0', 'n1']);
    for (const next of [pod('promised', 8, { node: 'n0' }), pod('promised', 8), promised(8, 6)]) {
      putPod(snapshot, promised(8, 6));
      expect(isKept()).toEqual(['n0']);
      putPod(snapshot, next);
      expect(isKept()).toEqual(next.status.nominatedNodeName === undefined ? [] : ['n0']);
    }
    removePod(snapshot, promised(8, 6));
    expect(isKept()).toEqual([]);
  });

  test('until the last of several pods has gone', () => {
    const second = pod('second', 1, { nominatedTo: 'n0' });
    const snapshot = createSnapshot({ nodes: NODES, pods: [promised(8, 6), second] });
    removePod(snapshot, second);
    expect(nodesWithNominations(snapshot, ['n0', 'n1'])).toEqual(['n0']);
  });
});
