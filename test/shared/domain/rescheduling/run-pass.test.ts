import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { type PassRequest, runPass } from '#shared/domain/rescheduling/run-pass.ts';
import type { ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, selectorOf } from '#test/build/cluster.ts';
import { codeOf, movesOf, MOVE_RULES, NOON, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '40', memory: '80Gi' };
const NODES = [
  buildNode({ name: 'a', allocatable: SIZE, labels: { pool: 'p' } }),
  buildNode({ name: 'b', allocatable: SIZE, labels: { pool: 'p' } }),
  buildNode({ name: 'c', allocatable: SIZE }),
];
/** Two pods of each of 18 owners fill 90 % of node a, of which 65 % are wanted. */
const PODS = Array.from({ length: 36 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 18}` }));

interface Asked extends Partial<PassRequest> {
  readonly policy?: ReschedulingPolicy;
  readonly pods?: readonly Pod[];
  readonly pressures?: readonly NodePressureFacts[];
}

function pass({ policy = UNDERUSED, pods = PODS, pressures = [], ...request }: Asked) {
  const snapshot = createSnapshot({ nodes: NODES, pods });
  for (const facts of pressures) snapshot.pressures.set(facts.node, facts);
  return finish(runPass(snapshot, policy, { now: NOON, memory: NO_MEMORY, rules: MOVE_RULES, ...request }));
}

type Avoided = NodePressureFacts['avoid'][number];

/** What is known of node b, which keeps these away. */
function known(...avoid: readonly Avoided[]): NodePressureFacts {
  const none = { pressure: undefined, overRequest: new Set<string>(), evicting: new Set<string>() };
  return { ...none, node: 'b', observedAt: NOON, isEnforced: true, avoid };
}

function keepsAway(name: string, until: number, uid = `owner-${name}`): Avoided {
  return { owner: { namespace: 'default', kind: 'ReplicaSet', name, uid }, until, isHard: false };
}

describe('a pass over a snapshot', () => {
  test('a node above its target gives pods away, one of an owner each', () => {
    const { moves } = pass({});
    expect(moves).toHaveLength(10);
    expect(new Set(moves.map(({ pod }) => pod.owner.id)).size).toBe(10);
  });

  test('makes no more moves than it is asked for', () => {
    expect(pass({ most: 2 }).moves).toHaveLength(2);
  });

  test('is held by a limit', () => {
    const hourly = { name: 'hourly', left: 1 };
    expect(pass({ limitsOf: () => [hourly] }).moves).toHaveLength(1);
  });

  test.each([
    ['is a move', 'c', ['p0 a>b'], 'PassLimit'],
    ['is none if the policy does not select it', 'b', [], 'TargetClosed'],
  ])('the node that kube-scheduler likes best %s', (_, filled, moves, code) => {
    const policy = { ...UNDERUSED, nodeSelector: selectorOf({ pool: 'p' }) };
    const filler = replica({ name: 'filler', node: filled, owner: 'filler' });
    const result = pass({ policy, most: 1, pods: [...PODS, filler] });
    expect(movesOf(result)).toEqual(moves);
    expect(codeOf(result, 'p1')).toBe(code);
  });

  test('counts use only where it is measured', () => {
    const policy = { ...UNDERUSED, underused: { ...UNDERUSED.underused, by: 'Usage' } as never };
    const memory = { ...NO_MEMORY, hotReadings: new Map([['a', 3]]), lowReadings: 3 };
    const ofNode = (name: string) => ({ cpu: name === 'a' ? 36_000 : 0, memory: 1 });
    const measurements = { ofNode, ofPod: () => ({ cpu: 1_000, memory: 1 }) };
    expect(pass({ policy, memory }).moves).toEqual([]);
    expect(pass({ policy, memory, measurements }).moves.length).toBeGreaterThan(0);
  });

  test.each<[string, readonly Avoided[], readonly string[]]>([
    ['nobody is kept away', [], ['p0 a>b|c']],
    ['its owner is kept away', [keepsAway('o0', NOON + 1)], ['p0 a>c']],
    ['its owner was kept away until now', [keepsAway('o0', NOON)], ['p0 a>b|c']],
    ['another owner is kept away', [keepsAway('o1', NOON + 1)], ['p0 a>b|c']],
    ['an earlier owner of its name is kept away', [keepsAway('o0', NOON + 1, 'old')], ['p0 a>b|c']],
  ])('the replacement goes to nodes that do not avoid its owner, where %s', (_, avoid, expected) => {
    expect(movesOf(pass({ most: 1, pressures: [known(...avoid)] }))).toEqual(expected);
  });
});
