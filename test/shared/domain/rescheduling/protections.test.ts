import { describe, expect, test } from 'vitest';
import { type Aggressiveness, DRY_RUN_POLICY, type ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildBudget, buildNode, selectorOf } from '#test/build/cluster.ts';
import {
  codeOf,
  MOVE_RULES,
  movesOf,
  NOON,
  passOn,
  type PassCase,
  replica,
  type ReplicaFields,
  UNDERUSED,
} from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const FULL = buildNode({ name: 'full', allocatable: SIZE });
const EMPTY = buildNode({ name: 'empty', allocatable: SIZE });

/** Nine tenths of a node by three owners, so that no owner is at its last pod. */
function ninePods(change: (index: number) => Partial<ReplicaFields> = () => ({})): readonly Pod[] {
  const names = Array.from({ length: 9 }, (_, index) => `p${index}`);
  return names.map((name, index) => replica({ name, node: 'full', owner: `o${index % 3}`, ...change(index) }));
}

/** Pods without a controller fill nine tenths of the node; beside them is one that may be moved. */
function onlyOne(cpu: string): readonly Pod[] {
  const staying = ninePods().map((pod) => ({ ...pod, owners: [] }));
  const requests = { cpu, memory: '1Mi' };
  return [...staying, ...['full', 'empty'].map((node) => replica({ name: `on-${node}`, node, requests }))];
}

function moved(given: PassCase): readonly string[] {
  return movesOf(passOn({ nodes: [FULL, EMPTY], ...given }));
}

describe('planPass', () => {
  test('moves as many pods off a node above its target as bring it to the target, one of each owner', () => {
    expect(moved({ pods: ninePods() })).toEqual(['p0 full>empty', 'p1 full>empty', 'p2 full>empty']);
  });

  test('is the same, and says the same, whatever the order of nodes, pods and budgets', () => {
    const pods = ninePods();
    const nodes = [FULL, EMPTY, buildNode({ name: 'also-empty', allocatable: SIZE })];
    const budgets = [buildBudget('a', { app: 'o0' }, 9), buildBudget('b', { app: 'o0' }, 9)];
    const decided = (given: PassCase) => {
      const { moves, stays } = passOn(given);
      const texts = stays.map(({ because }) => because.text).sort();
      return [moves.map(({ pod, expectedOn }) => [pod.placed.pod.name, expectedOn]), texts];
    };
    const other = { nodes: nodes.toReversed(), pods: pods.toReversed(), budgets: budgets.toReversed() };
    expect(decided(other)).toEqual(decided({ nodes, pods, budgets }));
  });

  test('makes no more moves than the pass may', () => {
    expect(moved({ pods: ninePods(), most: 2 })).toHaveLength(2);
  });

  test('moves nothing where no node is below `low`', () => {
    const others = Array.from({ length: 5 }, (_, index) =>
      replica({ name: `e${index}`, node: 'empty', owner: `e${index}` }),
    );
    expect(moved({ pods: [...ninePods(), ...others] })).toEqual([]);
  });

  test('an owner that was disrupted longest ago goes first among equal pods (S3-8)', () => {
    const pods = ninePods((index) => ({ startedAt: NOON - (index % 3 === 2 ? 9 : 1) * 3_600_000 }));
    expect(moved({ pods, most: 1 })).toEqual(['p2 full>empty']);
  });

  test.each<[string, Partial<ReplicaFields>]>([
    ['of the system priority', { priority: 2_000_000_000 }],
    ['of a protected namespace', { namespace: 'kube-system' }],
    ['of a DaemonSet', { ownerKind: 'DaemonSet' }],
    ['that is terminating', { deletion: { at: NOON, gracePeriodSeconds: 30 } }],
    ['that has ended', { phase: 'Succeeded' }],
    ['with a local volume', { spec: { volumes: [volume('emptyDir')] } }],
    ['with a claim that is not modelled', { spec: { volumes: [volume('persistentVolumeClaim')] } }],
    ['with a dynamic resource claim', { spec: { resourceClaims: ['gpu'] } }],
    ['that started within the window of its owner', { startedAt: NOON - 60_000 }],
    ['that is its owner’s last ready one', { conditions: [] }],
  ])('never moves a pod %s', (_, change) => {
    expect(moved({ pods: ninePods(() => change) })).toEqual([]);
  });

  test('never moves a pod without a controller (S3-47)', () => {
    expect(moved({ pods: ninePods().map((pod) => ({ ...pod, owners: [] })) })).toEqual([]);
  });

  test('never moves a pod that asked not to be evicted', () => {
    const annotations = new Map([['plimsoll.dev/evict', 'never']]);
    expect(moved({ pods: ninePods().map((pod) => ({ ...pod, annotations })) })).toEqual([]);
  });

  const ownedBy = (kind: string, apiVersion: string, restartPolicy?: string) =>
    ninePods().map((pod) => ({
      ...pod,
      owners: pod.owners.map((owner) => ({ ...owner, kind, apiVersion })),
      spec: { ...pod.spec, restartPolicy },
    }));

  test.each([
    ['Job', 'batch/v1', 'Never', 'RunsToCompletion'],
    ['Job', 'batch/v1', 'OnFailure', 'RunsToCompletion'],
    ['Job', 'batch.volcano.sh/v1alpha1', undefined, 'RunsToCompletion'],
    ['PyTorchJob', 'kubeflow.org/v1', undefined, 'RunsToCompletion'],
    ['Workflow', 'argoproj.io/v1alpha1', 'Never', 'RunsToCompletion'],
    ['VirtualMachineInstance', 'kubevirt.io/v1', undefined, 'VirtualMachine'],
    ['VirtualMachineInstance', 'kubevirt.io/v1', 'Never', 'VirtualMachine'],
  ])('never moves a pod of a %s of %s with restartPolicy %s, and says why', (kind, apiVersion, policy, code) => {
    const result = passOn({ nodes: [FULL, EMPTY], pods: ownedBy(kind, apiVersion, policy) });
    expect(movesOf(result)).toEqual([]);
    expect(result.stays.map(({ because }) => because.code)).toEqual(Array.from({ length: 9 }, () => code));
  });

  test.each(['Node', 'ConfigMap'])('moves no pod of a %s, which makes no other one', (kind) => {
    expect(moved({ pods: ownedBy(kind, 'v1') })).toEqual([]);
  });

  test('moves a pod of another kind of controller that restarts its pods', () => {
    expect(moved({ pods: ownedBy('CloneSet', 'apps.kruise.io/v1alpha1') })).toHaveLength(3);
    expect(moved({ pods: ownedBy('ReplicationController', 'v1') })).toHaveLength(3);
  });

  test.each([
    ['whose healthy pods suffice', { allowsUnready: true }, ['p0 full>empty']],
    ['that needs more healthy pods', { allowsUnready: false }, []],
    ['whose status is outdated', { allowsUnready: false, isStale: true }, []],
  ])('moves a pod that is not ready under a spent budget %s', (_, budget, moves) => {
    const pods = ninePods((index) => (index === 0 ? { conditions: [] } : {}));
    const budgets = [{ ...buildBudget('all', {}, 0), selector: selectorOf({}), ...budget }];
    expect(moved({ pods, budgets, most: 1 })).toEqual(moves);
  });

  test('never moves the last ready pod of an owner', () => {
    const pods = ninePods((index) => ({ owner: `single${index}` }));
    const result = passOn({ nodes: [FULL, EMPTY], pods });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('LastReadyReplica');
  });

  test('moves a third of an owner at most within its window', () => {
    const pods = ninePods(() => ({ owner: 'one' }));
    expect(moved({ pods })).toHaveLength(3);
  });

  test('leaves a part of every budget unused, by aggressiveness (S3-44)', () => {
    const pods = ninePods(() => ({ owner: 'one' }));
    const withBudget = (allowed: number, aggressiveness: Aggressiveness) =>
      moved({ pods, budgets: [buildBudget('b', { app: 'one' }, allowed)], policy: { ...UNDERUSED, aggressiveness } });
    expect(withBudget(2, 'High')).toHaveLength(2);
    expect(withBudget(1, 'Medium')).toHaveLength(1);
    expect(withBudget(2, 'Low')).toHaveLength(1);
    expect(withBudget(1, 'Low')).toEqual([]);
    expect(withBudget(0, 'High')).toEqual([]);
    const requests = { cpu: '500m', memory: '512Mi' };
    const small = Array.from({ length: 18 }, (_, index) =>
      replica({ name: `s${index}`, node: 'full', owner: `o${index % 6}`, labels: { app: 'one' }, requests }),
    );
    const ofFour = (aggressiveness: Aggressiveness) =>
      moved({ pods: small, budgets: [buildBudget('b', { app: 'one' }, 4)], policy: { ...UNDERUSED, aggressiveness } });
    expect((['Low', 'Medium', 'High'] as const).map((each) => ofFour(each).length)).toEqual([2, 3, 4]);
  });

  /** Moves of a pod of these sizes gain 0.18, 0.54, 1.08 and 2.14 points. */
  const SIZES = ['10m', '30m', '60m', '120m'];
  const worthwhile = (policy: ReschedulingPolicy) =>
    SIZES.filter((cpu) => moved({ pods: onlyOne(cpu), policy }).length > 0);

  test.each<[Aggressiveness, readonly string[]]>([
    ['Low', ['120m']],
    ['Medium', ['60m', '120m']],
    ['High', ['30m', '60m', '120m']],
  ])('aggressiveness %s makes moves that gain enough for it (S3-42, S3-44): %j', (aggressiveness, sizes) => {
    expect(worthwhile({ ...UNDERUSED, aggressiveness })).toEqual(sizes);
  });

  test('a policy may set the gain that a move needs (S3-42)', () => {
    const underused = { ...DRY_RUN_POLICY.underused, gain: 2 };
    expect(worthwhile({ ...UNDERUSED, underused })).toEqual(['120m']);
  });

  test('moves no pod off a node within its target for a pod that is nominated to it (S0-30)', () => {
    const requests = { cpu: '5', memory: '1Gi' };
    const waiting = replica({ name: 'waits', phase: 'Pending', priority: 1_000_000, nominatedTo: 'full', requests });
    expect(moved({ pods: [...ninePods().slice(0, 6), waiting] })).toEqual([]);
    expect(moved({ pods: ninePods().slice(0, 7) })).not.toEqual([]);
  });

  test('an empty selector of a budget selects every pod of the namespace', () => {
    expect(moved({ pods: ninePods(), budgets: [buildBudget('all', {}, 1)] })).toHaveLength(1);
  });

  test('a pod with several budgets stays: the API server would not evict it', () => {
    const budgets = [buildBudget('a', { app: 'o0' }, 9), buildBudget('b', { app: 'o0' }, 9)];
    const result = passOn({ nodes: [FULL, EMPTY], pods: ninePods(), budgets });
    expect(movesOf(result).some((move) => move.startsWith('p0'))).toBe(false);
    expect(codeOf(result, 'p0')).toBe('SeveralBudgets');
  });

  test('makes no move for an even load where that is off (S3-44)', () => {
    expect(moved({ pods: ninePods(), policy: { ...UNDERUSED, underused: undefined } })).toEqual([]);
  });

  test.each([
    [true, 0],
    [false, 3],
  ])('pods with needs that are not modelled are moved unless fitElsewhere: %s (S3-39)', (fitElsewhere, count) => {
    const pods = ninePods(() => ({ spec: { volumes: [volume('persistentVolumeClaim')] } }));
    expect(moved({ pods, rules: { ...MOVE_RULES, fitElsewhere } })).toHaveLength(count);
  });

  test('a limit in time holds where the budget does not', () => {
    const hourly = { name: 'hourly', left: 1 };
    expect(moved({ pods: ninePods(), limitsOf: () => [hourly] })).toHaveLength(1);
  });
});

function volume(source: string) {
  return { name: 'data', source, emptyDirMedium: '', emptyDirSizeLimit: undefined };
}

describe('nodes that are neither source nor target (S3-41)', () => {
  const TAINT = { key: 'dedicated', value: '', effect: 'NoSchedule' };
  test.each([
    ['cordoned', { isUnschedulable: true }],
    ['tainted', { taints: [TAINT] }],
    ['not ready', { taints: [{ ...TAINT, key: 'node.kubernetes.io/not-ready' }] }],
    ['not ready, before its taint is set', { isUnready: true }],
    [
      'emptied by an autoscaler',
      { taints: [{ ...TAINT, key: 'DeletionCandidateOfClusterAutoscaler', effect: 'PreferNoSchedule' }] },
    ],
  ])('%s', (_, change) => {
    expect(moved({ pods: ninePods(), nodes: [FULL, { ...EMPTY, ...change }] })).toEqual([]);
    expect(moved({ pods: ninePods(), nodes: [{ ...FULL, ...change }, EMPTY] })).toEqual([]);
  });

  test('under pressure, as a fresh NodePressure says', () => {
    const facts = {
      isEnforced: true,
      pressure: 'Soft',
      overRequest: new Set(),
      evicting: new Set(),
      avoid: [],
    } as const;
    const under = (node: string, observedAt: number) => [
      { ...facts, node, observedAt, overRequest: new Set<string>(), evicting: new Set<string>() },
    ];
    expect(moved({ pods: ninePods(), pressures: under('empty', NOON) })).toEqual([]);
    expect(moved({ pods: ninePods(), pressures: under('full', NOON) })).toEqual([]);
    expect(moved({ pods: ninePods(), pressures: under('empty', NOON - 600_000) })).toHaveLength(3);
  });

  test('not selected by the policy', () => {
    const policy = { ...UNDERUSED, nodeSelector: { matchLabels: new Map([['pool', 'a']]), matchExpressions: [] } };
    const inPool = (name: string) => buildNode({ name, allocatable: SIZE, labels: { pool: 'a' } });
    expect(moved({ pods: ninePods(), policy, nodes: [inPool('full'), EMPTY] })).toEqual([]);
    expect(moved({ pods: ninePods(), policy, nodes: [inPool('full'), inPool('empty')] })).toHaveLength(3);
  });
});
