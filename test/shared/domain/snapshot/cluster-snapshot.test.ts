import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import {
  createSnapshot,
  putBudget,
  putNamespace,
  putNode,
  removeBudget,
  removeNamespace,
  removeNode,
} from '#shared/domain/snapshot/create-snapshot.ts';
import { type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { traitsOfPods } from '#shared/domain/snapshot/placed-pod.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { buildBudget, buildNode, buildPod, mapOf, selectorOf } from '#test/build/cluster.ts';

const NODES = [buildNode({ name: 'n0', allocatable: { cpu: '4', memory: '4Gi' } }), buildNode({ name: 'n1' })];
const WITH_GPU = buildNode({ name: 'n1', allocatable: { cpu: '4', memory: '4Gi', 'example.com/gpu': '2' } });

/** What decisions read of a snapshot: the pods of each node in order, their budgets, the sums and the sheet. */
function view(snapshot: ClusterSnapshot): object {
  return Array.from(snapshot.nodes.values(), (entry) => ({
    name: entry.node.name,
    pods: entry.occupancy.pods.map((placed) => [
      placed.pod.name,
      placed.budgets.map(({ budget }) => `${budget.name} ${budget.disruptionsAllowed}`).sort(),
    ]),
    nominated: entry.occupancy.nominated.map(({ pod }) => pod.name),
    requested: sumsByName(snapshot, entry.occupancy.requested),
    free: sumsByName(snapshot, [...sheetOf(entry).numbers].slice(1, sheetOf(entry).width + 1)),
    podRows: sheetOf(entry).podCount,
    traits: traitsOfPods(entry.occupancy),
  }));
}

/** Of resources that a node has; others decide nothing. */
function sumsByName({ columns, nodes }: ClusterSnapshot, sums: readonly (number | bigint)[]): object {
  const isOnNode = (name: string): boolean => Array.from(nodes.values()).some(({ node }) => node.allocatable.has(name));
  const entries = Array.from(columns.indexes, ([name, column]) => [name, sums[column] ?? 0] as const);
  return Object.fromEntries(entries.filter(([name, amount]) => amount !== 0 && isOnNode(name)));
}

const drawnPod = fc
  .record({
    name: fc.integer({ min: 0, max: 7 }),
    node: fc.constantFrom('n0', 'n1', 'n9'),
    cpu: fc.constantFrom('0', '500m', '1'),
    resource: fc.constantFrom('memory', 'example.com/gpu'),
    priority: fc.constantFrom(0, 5),
    app: fc.constantFrom('a', 'b'),
    isNominated: fc.boolean(),
    phase: fc.constantFrom(undefined, undefined, undefined, 'Running', 'Succeeded'),
  })
  .map(({ name, node, cpu, resource, priority, app, isNominated, phase }) =>
    buildPod({
      name: `p${name}`,
      ...(isNominated ? { nominatedTo: node } : { node }),
      priority,
      labels: { app },
      requests: { cpu, [resource]: '1' },
      startedAt: name,
      ...(phase === undefined ? {} : { phase }),
    }),
  );

type Step = (snapshot: ClusterSnapshot) => void;

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    drawnPod.map(
      (pod): Step =>
        (snapshot) =>
          putPod(snapshot, pod),
    ),
    drawnPod.map(
      (pod): Step =>
        (snapshot) =>
          removePod(snapshot, pod),
    ),
    fc.constantFrom('n0', 'n1').map(
      (name): Step =>
        (snapshot) =>
          removeNode(snapshot, name),
    ),
    fc.constantFrom(...NODES, WITH_GPU).map(
      (node): Step =>
        (snapshot) =>
          putNode(snapshot, node),
    ),
    fc.record({ name: fc.constantFrom('x', 'y'), app: fc.constantFrom('a', 'b'), allowed: fc.nat(2) }).map(
      ({ name, app, allowed }): Step =>
        (snapshot) =>
          putBudget(snapshot, buildBudget(name, { app }, allowed)),
    ),
    fc.constantFrom('x', 'y').map(
      (name): Step =>
        (snapshot) =>
          removeBudget(snapshot, buildBudget(name, {}, 0)),
    ),
  ),
  { maxLength: 40 },
);

describe('a snapshot that changes in place', () => {
  test('is the one that would be built anew', () => {
    fc.assert(
      fc.property(steps, (changes) => {
        const snapshot = createSnapshot({ nodes: NODES, pods: [] });
        for (const change of changes) {
          change(snapshot);
          view(snapshot);
        }
        const rebuilt = createSnapshot({
          nodes: Array.from(snapshot.nodes.values(), ({ node }) => node),
          pods: Array.from(snapshot.placedPods.values(), ({ pod }) => pod),
          budgets: snapshot.budgetSlots.flatMap((entry) => entry?.budget ?? []),
        });
        expect(view(snapshot)).toEqual(view(rebuilt));
        expect([...snapshot.occupancies.keys()].sort()).toEqual([...rebuilt.occupancies.keys()].sort());
      }),
      { numRuns: 500 },
    );
  });

  test('forgets what is gone', () => {
    const snapshot = createSnapshot({ nodes: [], pods: [] });
    const pod = buildPod({ name: 'p', node: 'n9' });
    putPod(snapshot, pod);
    expect([...snapshot.occupancies.keys()]).toEqual(['n9']);
    removePod(snapshot, pod);
    removePod(snapshot, pod);
    removeNode(snapshot, 'n9');
    expect(snapshot.occupancies.size + snapshot.placedPods.size + snapshot.antiAffine.size).toBe(0);
  });

  test('keeps the pods of a node that goes and comes back', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [buildPod({ name: 'p', node: 'n0' })] });
    removeNode(snapshot, 'n0');
    expect(snapshot.nodes.has('n0')).toBe(false);
    putNode(snapshot, buildNode({ name: 'n0' }));
    expect(snapshot.nodes.get('n0')?.occupancy.pods.map(({ pod }) => pod.name)).toEqual(['p']);
  });

  test('tells pods without UID apart by name', () => {
    const unnamed = (name: string): Pod => ({ ...buildPod({ name, node: 'n0' }), uid: '' });
    const snapshot = createSnapshot({ nodes: NODES, pods: [unnamed('p'), unnamed('q'), unnamed('p')] });
    expect([...snapshot.placedPods.keys()]).toEqual(['default/q', 'default/p']);
  });

  test('leaves out pods that are nowhere', () => {
    expect(createSnapshot({ nodes: NODES, pods: [buildPod({ name: 'p' })] }).placedPods.size).toBe(0);
  });
});

describe('resources that no node has', () => {
  const names = Array.from({ length: 3_000 }, (_, index) => [`example.com/r${index}`, '1'] as const);
  const greedy = buildPod({ name: 'greedy', node: 'n1', requests: { ...Object.fromEntries(names), cpu: '1' } });

  test('lengthen no row (T-38)', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [greedy] });
    expect(snapshot.columns.indexes.size).toBe(3);
    expect(sheetOf(snapshot.nodes.get('n1') as NodeEntry).width).toBe(1);
  });

  test('are counted as soon as a node has them, and the pods keep their order', () => {
    const other = buildPod({ name: 'other', node: 'n1', requests: { 'example.com/r7': '2' } });
    const snapshot = createSnapshot({ nodes: NODES, pods: [greedy, other] });
    putNode(snapshot, buildNode({ name: 'n2', allocatable: { 'example.com/r7': '4' } }));
    const { occupancy } = snapshot.nodes.get('n1') as NodeEntry;
    expect(occupancy.requested[snapshot.columns.indexes.get('example.com/r7') ?? -1]).toBe(3);
    expect(occupancy.pods.map(({ pod }) => pod.name)).toEqual(['greedy', 'other']);
    expect(Array.from(snapshot.uncounted, ({ pod }) => pod.name)).toEqual(['greedy']);
    removePod(snapshot, greedy);
    expect(snapshot.uncounted.size).toBe(0);
  });

  test('and a node names a thousand at most', () => {
    const snapshot = createSnapshot({
      nodes: [buildNode({ name: 'n0', allocatable: Object.fromEntries(names) })],
      pods: [],
    });
    expect(snapshot.columns.indexes.size).toBe(1_000);
    expect(snapshot.nodes.get('n0')?.allocatable).toHaveLength(1_000);
  });
});

describe('budgets', () => {
  const pod = buildPod({ name: 'p', node: 'n0', labels: { app: 'a' } });

  test('look at no pod of another namespace', () => {
    let looks = 0;
    const foreign = Object.defineProperty(buildPod({ name: 'q', node: 'n0' }), 'namespace', {
      get: () => {
        looks += 1;
        return 'prod';
      },
    });
    const budgets = [buildBudget('b', { app: 'a' }, 0)];
    const snapshot = createSnapshot({ nodes: NODES, pods: [pod, foreign], budgets });
    looks = 0;
    putBudget(snapshot, buildBudget('c', { app: 'a' }, 0));
    removeBudget(snapshot, buildBudget('b', {}, 0));
    expect([looks, snapshot.placedPods.get('uid-p')?.budgets.length]).toEqual([0, 1]);
  });

  test('and the pods that they look at are forgotten with them', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [pod], budgets: [buildBudget('b', { app: 'a' }, 0)] });
    putPod(snapshot, buildPod({ name: 'q', node: 'n0', labels: { app: 'a' } }));
    expect(snapshot.placedPods.get('uid-q')?.budgets).toHaveLength(1);
    for (const { pod: each } of snapshot.placedPods.values()) removePod(snapshot, each);
    removeBudget(snapshot, buildBudget('b', {}, 0));
    expect([snapshot.podsByNamespace.size, snapshot.budgets.size]).toEqual([0, 0]);
  });

  test('with changed counters keep their place and their pods', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [pod], budgets: [buildBudget('b', { app: 'a' }, 0)] });
    const [before] = snapshot.budgetSlots;
    putBudget(snapshot, buildBudget('b', { app: 'a' }, 3));
    expect(snapshot.budgetSlots).toEqual([before]);
    expect(before?.budget.disruptionsAllowed).toBe(3);
  });

  test('take the slots of those that are gone', () => {
    const snapshot = createSnapshot({ nodes: NODES, pods: [pod] });
    for (const name of ['a', 'b', 'c']) putBudget(snapshot, buildBudget(name, { app: 'a' }, 0));
    removeBudget(snapshot, buildBudget('b', {}, 0));
    putBudget(snapshot, buildBudget('d', { app: 'a' }, 0));
    expect(snapshot.budgetSlots.map((entry) => entry?.budget.name)).toEqual(['a', 'd', 'c']);
  });

  test.each([
    ['the labels must match', { selector: selectorOf({ app: 'b' }) }, 0],
    ['an empty selector counts no pod', { selector: selectorOf({}) }, 0],
    ['an absent selector counts no pod', { selector: undefined }, 0],
    ['another namespace does not count', { namespace: 'prod' }, 0],
    ['else the pod counts', {}, 1],
  ])('%s', (_, fields, count) => {
    const budgets = [{ ...buildBudget('b', { app: 'a' }, 0), ...fields }];
    const snapshot = createSnapshot({ nodes: NODES, pods: [pod], budgets });
    expect(snapshot.placedPods.get('uid-p')?.budgets).toHaveLength(count);
  });

  test('pods without labels count for no budget', () => {
    const absent = { matchLabels: new Map(), matchExpressions: [{ key: 'x', operator: 'DoesNotExist', values: [] }] };
    const budgets = [{ ...buildBudget('b', {}, 0), selector: absent }];
    const snapshot = createSnapshot({ nodes: NODES, pods: [buildPod({ name: 'q', node: 'n0' }), pod], budgets });
    expect(Array.from(snapshot.placedPods.values(), ({ budgets: counting }) => counting.length)).toEqual([0, 1]);
  });
});

test('namespaces come and go', () => {
  const snapshot = createSnapshot({
    nodes: [],
    pods: [],
    namespaces: [{ name: 'prod', labels: mapOf({ team: 'x' }) }],
  });
  putNamespace(snapshot, { name: 'prod', labels: mapOf({ team: 'y' }) });
  expect([...snapshot.namespaces]).toEqual([['prod', mapOf({ team: 'y' })]]);
  removeNamespace(snapshot, 'prod');
  expect(snapshot.namespaces.size).toBe(0);
});
