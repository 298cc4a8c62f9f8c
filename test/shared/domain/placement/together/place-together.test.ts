import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { fitTogether, placeTogether } from '#shared/domain/placement/together/place-together.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildNode, buildPod, buildTerm, type PodFields } from '#test/build/cluster.ts';
import { randomSource } from '#test/fakes/random-source.ts';

const nodes = (...cpus: readonly number[]) =>
  cpus.map((cpu, index) =>
    buildNode({ name: `n-${index}`, allocatable: { cpu: `${cpu}` }, labels: { at: `${index}` } }),
  );
const gang = (...cpus: readonly number[]) =>
  cpus.map((cpu, index) => buildPod({ name: `g-${index}`, requests: { cpu: `${cpu}` } }));
const plan = (
  snapshot: ClusterSnapshot,
  pods: readonly Pod[],
  expected = new Map<string, { pod: Pod; node: string }>(),
) => finish(placeTogether({ snapshot, pods, expected }));
const onNodes = (snapshot: ClusterSnapshot, pods: readonly Pod[]) => {
  const found = plan(snapshot, pods);
  return found.kind === 'Placed' ? pods.map(({ uid }) => found.nodeOf.get(uid)) : [found.because.code];
};

describe('pods that start together', () => {
  test('get nodes of which none holds more than it has', () => {
    const snapshot = createSnapshot({ nodes: nodes(4, 4, 4, 4), pods: [] });
    const found = onNodes(snapshot, gang(...Array<number>(8).fill(2)));
    expect(found.toSorted()).toEqual(['n-0', 'n-0', 'n-1', 'n-1', 'n-2', 'n-2', 'n-3', 'n-3']);
  });

  test('get none if one of them finds none, and the sentence says what is missing', () => {
    const snapshot = createSnapshot({ nodes: nodes(4, 4, 4, 3), pods: [] });
    expect(plan(snapshot, gang(...Array<number>(8).fill(2)))).toMatchObject({
      kind: 'None',
      because: {
        code: 'GangNoPlan',
        text: 'no plan: 7 of 8 pods fit; the next one needs 2 cpu, and the largest hole on a node that it may use is 1 cpu',
        facts: { placed: 7, pods: 8, needed: '2 cpu', hole: '1 cpu' },
      },
    });
  });

  test('leave the room of running, leaving, nominated and expected pods alone; of their own nominations nothing', () => {
    const placed = (name: string, more: Partial<PodFields>) => buildPod({ name, requests: { cpu: '3' }, ...more });
    const members = gang(2, 2).map((pod) => ({ ...pod, status: { ...pod.status, nominatedNodeName: 'n-4' } }));
    const snapshot = createSnapshot({
      nodes: nodes(4, 4, 4, 4, 4),
      pods: [
        placed('running', { node: 'n-0' }),
        placed('leaving', { node: 'n-1', deletion: { at: 0, gracePeriodSeconds: 30 } }),
        placed('nominated', { nominatedTo: 'n-2' }),
        ...members,
      ],
    });
    const expected = new Map([['uid-x', { pod: placed('x', {}), node: 'n-3' }]]);
    const found = plan(snapshot, members, expected);
    expect(found.kind === 'Placed' && [...found.nodeOf.values()]).toEqual(['n-4', 'n-4']);
    expect(
      plan(
        snapshot,
        gang(2, 2, 2).map((pod, at) => members[at] ?? pod),
        expected,
      ).kind,
    ).toBe('None');
  });

  test('get no node that is not ready, also before its taint is set, and start on none that is not ready any more', () => {
    const pods = gang(2, 2);
    const lost = createSnapshot({ nodes: nodes(4, 4).map((node, at) => ({ ...node, isUnready: at === 0 })), pods: [] });
    expect(onNodes(lost, pods)).toEqual(['n-1', 'n-1']);
    const nodeOf = new Map(pods.map(({ uid }) => [uid, 'n-0']));
    expect(finish(fitTogether({ snapshot: lost, pods }, nodeOf))).toBe(false);
    const back = createSnapshot({ nodes: nodes(4, 4), pods: [] });
    expect(finish(fitTogether({ snapshot: back, pods }, nodeOf))).toBe(true);
  });

  test.each([
    ['until that is taken off', 'n-0', ['n-2', 'n-2']],
    ['and no other once it is', undefined, ['n-0', 'n-0']],
    ['once where it is nominated already', 'n-1', ['n-0', 'n-0']],
  ])('leave the room where a pod is expected alone, and where a leader that ended nominated it %s', (_, node, onto) => {
    const nominated = node === undefined ? {} : { nominatedTo: node };
    const moving = buildPod({ name: 'moving', requests: { cpu: '4' }, ...nominated });
    const snapshot = createSnapshot({ nodes: nodes(4, 4, 4), pods: [moving] });
    const found = plan(snapshot, gang(2, 2), new Map([[moving.uid, { pod: moving, node: 'n-1' }]]));
    expect(found.kind === 'Placed' && [...found.nodeOf.values()]).toEqual(onto);
  });

  test('go only where filters let each of them be', () => {
    const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
    const tainted = buildNode({ name: 'tainted', allocatable: { cpu: '64' }, taints: [taint] });
    const snapshot = createSnapshot({ nodes: [tainted, ...nodes(4, 4)], pods: [] });
    const choosy = buildPod({
      name: 'g-0',
      requests: { cpu: '2' },
      scheduling: { nodeSelector: new Map([['at', '1']]) },
    });
    expect(onNodes(snapshot, [choosy, ...gang(2, 2).map((pod) => ({ ...pod, uid: `${pod.uid}-x` }))])).toEqual([
      'n-1',
      'n-1',
      'n-0',
    ]);
  });

  test('keep away from nodes whose pods keep them away', () => {
    const enemy = buildPod({ name: 'enemy', node: 'n-0', scheduling: { podAntiAffinity: [buildTerm({ app: 'g' })] } });
    const snapshot = createSnapshot({ nodes: nodes(4, 4), pods: [enemy] });
    const members = gang(1, 1).map((pod) => ({ ...pod, labels: new Map([['app', 'g']]) }));
    expect(onNodes(snapshot, members)).toEqual(['n-1', 'n-1']);
  });

  test('a small one moves aside for a large one that fits nowhere else', () => {
    const snapshot = createSnapshot({ nodes: nodes(5, 4), pods: [] });
    const members = gang(3, 3, 2).map((pod, at) =>
      at === 0
        ? pod
        : {
            ...pod,
            spec: {
              ...pod.spec,
              scheduling: { ...pod.spec.scheduling, nodeSelector: new Map(at === 1 ? [['at', '1']] : []) },
            },
          },
    );
    expect(onNodes(snapshot, members)).toEqual(['n-0', 'n-1', 'n-0']);
  });

  test.each<[string, Partial<PodFields>]>([
    ['required affinity to pods', { scheduling: { podAntiAffinity: [buildTerm({ app: 'x' })] } }],
    ['host ports', { hostPorts: [80] }],
    ['volume data', { spec: { volumes: [{ name: 'data', source: 'persistentVolumeClaim' }] as never } }],
  ])('are not seen to fit with %s', (what, fields) => {
    const snapshot = createSnapshot({ nodes: nodes(4), pods: [] });
    const found = plan(snapshot, [buildPod({ name: 'g', requests: { cpu: '1' }, ...fields })]);
    expect(found).toMatchObject({
      kind: 'None',
      because: { code: 'GangNotSeenToFit', facts: { pod: 'default/g', what } },
    });
  });

  test('in random clusters no node gets more than it has, and a plan is missed rarely where one exists', () => {
    const random = randomSource(48);
    let [possible, missed] = [0, 0];
    for (let round = 0; round < 400; round += 1) {
      const sizes = Array.from({ length: 2 + random.below(3) }, () => 2 + random.below(6));
      const asked = Array.from({ length: 2 + random.below(5) }, () => 1 + random.below(4));
      const members = gang(...asked);
      const snapshot = createSnapshot({ nodes: nodes(...sizes), pods: [] });
      const found = plan(snapshot, members);
      if (canPack(asked, sizes)) possible += 1;
      if (found.kind === 'None') missed += canPack(asked, sizes) ? 1 : 0;
      else {
        expect(finish(fitTogether({ snapshot, pods: members }, found.nodeOf))).toBe(true);
        const used = Map.groupBy(members, ({ uid }) => found.nodeOf.get(uid) ?? '');
        for (const [name, own] of used) {
          const sum = own.reduce((total, pod) => total + (asked[members.indexOf(pod)] ?? 0), 0);
          expect(sum).toBeLessThanOrEqual(sizes[Number(name.slice(2))] ?? 0);
        }
      }
    }
    expect(possible).toBeGreaterThan(150);
    expect(missed / possible).toBeLessThan(0.02);
  });
});

function canPack([first, ...rest]: readonly number[], sizes: readonly number[]): boolean {
  if (first === undefined) return true;
  return sizes.some((size, at) => size >= first && canPack(rest, sizes.with(at, size - first)));
}

describe('the last look before they start', () => {
  const snapshot = createSnapshot({
    nodes: nodes(4, 4),
    pods: [buildPod({ name: 'late', node: 'n-0', requests: { cpu: '1' } })],
  });
  test.each([
    [['n-1', 'n-1'], true],
    [['n-0', 'n-1'], true],
    [['n-0', 'n-0'], false],
    [['n-1', 'gone'], false],
  ])('on %j: %s', (names, expected) => {
    const pods = gang(2, 2);
    const nodeOf = new Map(pods.map(({ uid }, at) => [uid, names[at] ?? '']));
    expect(finish(fitTogether({ snapshot, pods }, nodeOf))).toBe(expected);
  });
});

test('a thousand pods of as many sizes find their nodes among five thousand, in many turns', () => {
  const random = randomSource(1);
  const many = Array.from({ length: 5_000 }, (_, index) =>
    buildNode({ name: `n-${index}`, allocatable: { cpu: `${4 + random.below(60)}`, memory: '64Gi' } }),
  );
  const snapshot = createSnapshot({ nodes: many, pods: [] });
  const pods = Array.from({ length: 1_000 }, (_, index) =>
    buildPod({ name: `g-${index}`, requests: { cpu: `${500 + index * 3}m`, memory: `${1_000 + index}Mi` } }),
  );
  const steps = placeTogether({ snapshot, pods });
  let turns = 1;
  let last = steps.next();
  for (; last.done !== true; last = steps.next()) turns += 1;
  expect(last.value.kind).toBe('Placed');
  expect(turns).toBeGreaterThan(50);
});
