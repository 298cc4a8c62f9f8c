import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { BadServicePolicy } from '#shared/domain/rescheduling/policy.ts';
import { buildNode } from '#test/build/cluster.ts';
import {
  codeOf,
  movesOf,
  passOn,
  type PassCase,
  replica,
  type ReplicaFields,
  UNDERUSED,
} from '#test/build/rescheduling.ts';

const GI = 1024 ** 3;
const [A, B] = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
const NODES = [A, B].filter((node) => node !== undefined);

function restarted(restartCount: number) {
  return { name: 'main', restartCount, resources: undefined, allocatedResources: undefined };
}

/** A pod whose containers restarted so often. */
function failing(fields: ReplicaFields, restarts = 9, ofInit = 0): Pod {
  const pod = replica({ node: 'a', ...fields });
  return { ...pod, status: { ...pod.status, containers: [restarted(restarts)], initContainers: [restarted(ofInit)] } };
}

/** Another ready pod of each owner, on a node that the policy leaves alone. */
function spare(owner: string): Pod {
  return replica({ name: `spare-${owner}`, node: 'spare', owner });
}

const SPARE = buildNode({ name: 'spare', allocatable: { cpu: '10', memory: '20Gi' }, isUnschedulable: true });

function pass(
  move: BadServicePolicy['move'],
  given: PassCase,
  limits: Omit<BadServicePolicy, 'move'> = { restarts: 5 },
) {
  const policy = { ...UNDERUSED, underused: undefined, badService: { ...limits, move } };
  const { nodes = NODES, pods = [] } = given;
  const owners = new Set(pods.map(({ labels }) => labels.get('app') ?? ''));
  return passOn({ ...given, policy, nodes: [...nodes, SPARE], pods: [...pods, ...[...owners].map(spare)] });
}

describe('a pod that fails', () => {
  test.each<[string, number, number, readonly string[]]>([
    ['moves from the limit on', 5, 0, ['web a>b']],
    ['stays below the limit', 4, 0, []],
    ['is judged by its init containers, too', 3, 2, ['web a>b']],
  ])('%s', (_, restarts, ofInit, expected) => {
    expect(movesOf(pass('Victim', { pods: [failing({ name: 'web' }, restarts, ofInit)] }))).toEqual(expected);
  });

  test('stays on a node that is closed', () => {
    const nodes = NODES.map((node) => ({ ...node, isUnschedulable: node.name === 'a' }));
    expect(movesOf(pass('Victim', { nodes, pods: [failing({ name: 'web' })] }))).toEqual([]);
  });

  test('stays without a controller', () => {
    expect(movesOf(pass('Victim', { pods: [{ ...failing({ name: 'web' }), owners: [] }] }))).toEqual([]);
  });

  test('does not go where pods of its owner fail', () => {
    const result = pass('Victim', { pods: [failing({ name: 'web' }), failing({ name: 'web2', node: 'b' })] });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'web')).toBe('HarmfulNode');
  });

  test('goes where pods of others fail', () => {
    const pods = [failing({ name: 'web' }), { ...failing({ name: 'db', owner: 'db', node: 'b' }), owners: [] }];
    expect(movesOf(pass('Victim', { pods }))).toEqual(['web a>b']);
  });
});

describe('the pod that uses more than it requests, next to one that fails', () => {
  const victim = failing({ name: 'victim', owner: 'victim' });
  const hog = replica({ name: 'hog', node: 'a', owner: 'hog' });
  const mild = replica({ name: 'mild', node: 'a', owner: 'mild' });
  const greedy = replica({ name: 'greedy', node: 'a', owner: 'greedy', requests: {} });

  test.each<[string, readonly Pod[], Readonly<Record<string, number>>, readonly string[]]>([
    ['moves if it is furthest beyond its request', [victim, hog, mild], { hog: 3, mild: 2 }, ['hog a>b']],
    [
      'is one without a request rather than one that uses more of its own',
      [victim, hog, greedy],
      { hog: 2, greedy: 1.5 },
      ['greedy a>b'],
    ],
    ['may be the one that fails', [victim, hog], { victim: 4, hog: 3 }, ['victim a>b']],
    ['is nobody where all keep to their requests', [victim, hog], { victim: 1, hog: 1 }, []],
    ['is nobody where nothing is measured', [victim, hog], {}, []],
    ['is nobody where no pod fails', [hog], { hog: 3 }, []],
    [
      'moves once for two that fail',
      [victim, failing({ name: 'also', owner: 'also' }), hog, mild],
      { hog: 3, mild: 2 },
      ['hog a>b'],
    ],
  ])('%s', (_, pods, used, expected) => {
    const ofPod = (uid: string) => {
      const memory = used[uid.replace('uid-', '')];
      return memory === undefined ? undefined : { cpu: 0, memory: memory * GI };
    };
    const measurements = { ofNode: () => ({ cpu: 0, memory: 0 }), ofPod };
    expect(movesOf(pass('Aggressor', { pods, measurements }))).toEqual(expected);
  });
});
