import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_MEMORY, type ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import { buildNode } from '#test/build/cluster.ts';
import { codeOf, movesOf, NOON, passOn, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: SIZE }));
const ROUND_MS = 300_000;

/** Nine pods of one owner on node a; `gone` of them are on node b instead, as replacements. */
function pods(gone: readonly string[], since: number, node = 'b'): readonly Pod[] {
  return Array.from({ length: 9 }, (_, n) => {
    const name = `p${n}`;
    const isGone = gone.includes(name);
    return isGone
      ? replica({ name: `${name}-new`, node, startedAt: since })
      : replica({ name, node: 'a', startedAt: NOON - 3_600_000 });
  });
}

describe('what the rescheduler remembers', () => {
  test('an owner waits until the replacement of its pod is placed (S3-39)', () => {
    const first = passOn({ nodes: NODES, pods: pods([], NOON), most: 1 });
    expect(movesOf(first)).toEqual(['p0 a>b']);
    const now = NOON + ROUND_MS;
    const missing = pods([], NOON).filter(({ name }) => name !== 'p0');
    const waiting = passOn({ nodes: NODES, pods: missing, memory: first.memory, now });
    expect(movesOf(waiting)).toEqual([]);
    expect(codeOf(waiting, 'p1')).toBe('ReplacementPending');
    const placed = passOn({ nodes: NODES, pods: pods(['p0'], NOON), memory: waiting.memory, now: now + ROUND_MS });
    expect(movesOf(placed)).not.toEqual([]);
  });

  test('an owner whose pods come back to their node twice is left alone for a day (S3-43)', () => {
    const first = passOn({ nodes: NODES, pods: pods([], NOON), most: 2 });
    expect(movesOf(first)).toEqual(['p0 a>b', 'p1 a>b']);
    const back = pods(['p0', 'p1'], NOON, 'a');
    const next = passOn({ nodes: NODES, pods: back, memory: first.memory, now: NOON + ROUND_MS });
    expect(movesOf(next)).toEqual([]);
    expect(codeOf(next, 'p2')).toBe('SchedulerDisagrees');
    const hours = (count: number) =>
      movesOf(passOn({ nodes: NODES, pods: back, memory: next.memory, now: NOON + ROUND_MS + count * 3_600_000 }));
    expect(hours(23)).toEqual([]);
    expect(hours(25)).not.toEqual([]);
  });

  test('no pod goes to a node from which its owner was moved', () => {
    const move = {
      uid: 'x',
      policy: 'underused',
      from: 'b',
      expectedOn: 'a',
      at: NOON - ROUND_MS,
      expected: 1,
    } as const;
    const past = { ...move, sourceLoad: [], replicas: 9, replacement: { uid: 'y', node: 'a', reached: 1 } };
    const id = 'default/ReplicaSet/web owner-web';
    const memory: ReschedulingMemory = { ...NO_MEMORY, owners: new Map([[id, { moves: [past], stop: undefined }]]) };
    const result = passOn({ nodes: NODES, pods: pods([], NOON), memory });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('FormerNode');
  });

  test('a policy that misses its gain in three passes makes half as many moves', () => {
    const policies = new Map([['underused', { missed: 3, rate: 0.5, expected: 2, reached: 0 }]] as const);
    const owners = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 3}` }));
    const result = passOn({ nodes: NODES, pods: owners, memory: { ...NO_MEMORY, policies }, most: 2 });
    expect(movesOf(result)).toHaveLength(1);
  });

  test('a pod whose replacements fail as well is left alone: its node is not to blame', () => {
    const badService = { restarts: 5, move: 'Victim' } as const;
    const policy = { ...UNDERUSED, underused: undefined, badService };
    const failing = pods([], NOON).map((pod) => ({ ...pod, status: { ...pod.status, containers: [restarted(9)] } }));
    const past = [0, 1, 2].map((n) => ({
      uid: `x${n}`,
      policy: 'badService',
      from: `n${n}`,
      expectedOn: 'a',
      at: NOON - ROUND_MS,
      expected: 100,
      sourceLoad: [],
      replicas: 9,
      replacement: { uid: `uid-p${n}`, node: 'a', reached: 100 },
    })) as never;
    const id = 'default/ReplicaSet/web owner-web';
    const memory: ReschedulingMemory = { ...NO_MEMORY, owners: new Map([[id, { moves: past, stop: undefined }]]) };
    expect(movesOf(passOn({ nodes: NODES, pods: failing, policy }))).not.toEqual([]);
    const result = passOn({ nodes: NODES, pods: failing, policy, memory });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('SchedulerDisagrees');
  });

  test('a pod that fails keeps its owner away from the node for an hour, one that only finds a better place for ten minutes (S3-31)', () => {
    const policy = { ...UNDERUSED, underused: undefined, badService: { restarts: 5, move: 'Victim' } } as const;
    const failing = pods([], NOON).map((pod) => ({ ...pod, status: { ...pod.status, containers: [restarted(9)] } }));
    expect(passOn({ nodes: NODES, pods: failing, policy }).moves[0]?.avoidForMs).toBe(3_600_000);
    expect(passOn({ nodes: NODES, pods: pods([], NOON) }).moves[0]?.avoidForMs).toBe(600_000);
  });

  test('by usage, a node counts once it was above its target in three readings', () => {
    const underused = { ...UNDERUSED.underused, by: 'Usage' } as const;
    const policy = { ...UNDERUSED, underused: underused as never };
    const use = { cpu: 1_000, memory: 1 };
    const ofNode = (name: string) => (name === 'a' ? { cpu: 9_000, memory: 1 } : { cpu: 0, memory: 0 });
    const measurements = { ofNode, ofPod: () => use };
    let memory = NO_MEMORY;
    const made = [0, 1, 2].map((round) => {
      const result = passOn({ nodes: NODES, pods: pods([], NOON), policy, measurements, memory, now: NOON + round });
      memory = result.memory;
      return result.moves.length;
    });
    expect(made).toEqual([0, 0, 1]);
    const blind = passOn({ nodes: NODES, pods: pods([], NOON), policy, memory, now: NOON + 3 });
    expect(movesOf(blind)).toEqual([]);
  });
});

function restarted(restartCount: number) {
  return { name: 'main', restartCount, resources: undefined, allocatedResources: undefined };
}
