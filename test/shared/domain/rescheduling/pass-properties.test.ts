import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Amounts, quantityMilliValue } from '#shared/domain/quantity/quantity.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ReschedulingResult } from '#shared/domain/rescheduling/pass.ts';
import { isInWindow } from '#shared/domain/rescheduling/policy.ts';
import { buildBudget, buildNode, buildTerm } from '#test/build/cluster.ts';
import { isMovable, runningPod } from '#shared/domain/rescheduling/running-pod.ts';
import {
  AFFINITY,
  clusterWith,
  MOVE_RULES,
  NOON,
  passOn,
  type PassCase,
  replica,
  UNDERUSED,
} from '#test/build/rescheduling.ts';

/* Laws that hold of every pass. A broken one is a pod evicted that should not have been. */

const ZONES = ['x', 'y', 'z'];
const nodeFields = fc.record({
  zone: fc.constantFrom(...ZONES),
  cordoned: fc.boolean(),
  cpu: fc.integer({ min: 4, max: 16 }),
});
const podFields = fc.record({
  owner: fc.integer({ min: 0, max: 5 }),
  node: fc.integer({ min: -1, max: 5 }),
  cpu: fc.integer({ min: 1, max: 12 }),
  kind: fc.constantFrom('ReplicaSet', 'StatefulSet', 'DaemonSet', 'none'),
  ageMinutes: fc.integer({ min: 0, max: 90 }),
  isReady: fc.boolean(),
  keepsApart: fc.boolean(),
  zone: fc.option(fc.constantFrom(...ZONES)),
});

const cluster = fc
  .record({
    nodes: fc.array(nodeFields, { minLength: 2, maxLength: 6 }),
    pods: fc.array(podFields, { maxLength: 40 }),
    allowed: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 6 }),
  })
  .map(({ nodes, pods, allowed }) => ({
    nodes: nodes.map(({ zone, cordoned, cpu }, n) =>
      buildNode({
        name: `n${n}`,
        labels: { zone },
        isUnschedulable: cordoned && n > 0,
        allocatable: { cpu: `${cpu}`, memory: '32Gi' },
      }),
    ),
    pods: pods
      .map(podOf)
      .filter(({ spec }) => spec.nodeName === undefined || Number(spec.nodeName.slice(1)) < nodes.length),
    budgets: allowed.map((count, n) => buildBudget(`b${n}`, { app: `o${n}` }, count)),
  }));

function podOf(fields: typeof podFields extends fc.Arbitrary<infer T> ? T : never, index: number): Pod {
  const { owner, node, cpu, kind, ageMinutes, isReady, keepsApart, zone } = fields;
  const pod = replica({
    name: `p${index}`,
    owner: `o${owner}`,
    ...(kind !== 'none' && { ownerKind: kind }),
    ...(node >= 0 && { node: `n${node}` }),
    startedAt: NOON - ageMinutes * 60_000,
    requests: { cpu: `${cpu * 100}m`, memory: `${cpu * 128}Mi` },
    conditions: isReady ? [{ type: 'Ready', status: 'True', reason: '' }] : [],
    scheduling: {
      ...(keepsApart && { podAntiAffinity: [buildTerm({ app: `o${owner}` })] }),
      ...(zone !== null && { nodeSelector: new Map([['zone', zone]]) }),
    },
  });
  return kind === 'none' ? { ...pod, owners: [] } : pod;
}

const policies = fc.constantFrom(UNDERUSED, AFFINITY, { ...UNDERUSED, affinity: AFFINITY.affinity });
const aggressiveness = fc.constantFrom('Low', 'Medium', 'High' as const);
const most = fc.integer({ min: 0, max: 10 });

/** Every pod of a drawn cluster, with its node. */
function placedIn(given: PassCase) {
  const found = clusterWith(given);
  const pods = found.nodes.flatMap((node) => node.entry.occupancy.pods.map((placed) => [placed, node] as const));
  return { found, pods };
}

function check(law: (given: PassCase, result: ReschedulingResult) => void): void {
  const drawn = fc.record({ cluster, policy: policies, aggressiveness, most });
  fc.assert(
    fc.property(drawn, (each) => {
      const given = {
        ...each.cluster,
        most: each.most,
        policy: { ...each.policy, aggressiveness: each.aggressiveness },
      };
      law(given, passOn(given));
    }),
    { seed: 29, numRuns: 400 },
  );
}

describe('every pass', () => {
  test('finds the same pods that may be moved, whether or not their owners are looked up', () => {
    check((given) => {
      const { found, pods } = placedIn(given);
      for (const each of pods) {
        const movable = runningPod(found, each, MOVE_RULES);
        expect(isMovable(found, each, MOVE_RULES)).toBe(movable?.kind === 'movable');
      }
    });
  });

  test('names only running pods with a controller that other nodes may take, each once (S3-47)', () => {
    check((_, { moves }) => {
      const pods = moves.map(({ pod }) => pod.placed.pod);
      expect(new Set(pods.map(({ uid }) => uid)).size).toBe(pods.length);
      for (const { spec, owners, status } of pods) {
        expect(spec.nodeName).toBeDefined();
        expect(status.phase).toBe('Running');
        expect(owners.some(({ isController, kind }) => isController && kind !== 'DaemonSet')).toBe(true);
      }
    });
  });

  test('spends no more than budgets, owners and the pass allow, and leaves every owner a ready pod', () => {
    check(({ budgets = [], most: allowed = 0 }, { moves }) => {
      expect(moves.length).toBeLessThanOrEqual(allowed);
      for (const [owner, ofOwner] of Map.groupBy(moves, ({ pod }) => pod.owner)) {
        const budget = budgets.find(({ name }) => `o${name.slice(1)}` === owner.key.name);
        expect(ofOwner.length).toBeLessThanOrEqual(budget?.disruptionsAllowed ?? Infinity);
        expect(ofOwner.length).toBeLessThanOrEqual(Math.max(1, owner.pods.length / 3));
        const gone = new Set(ofOwner.map(({ pod }) => pod.placed));
        expect(owner.pods.some((placed) => !gone.has(placed) && placed.pod.status.conditions.length > 0)).toBe(true);
        expect(
          owner.pods.filter(({ pod }) => (pod.status.startTime ?? 0) > NOON - 300_000).length + gone.size,
        ).toBeLessThanOrEqual(Math.max(1, owner.pods.length / 3));
      }
    });
  });

  test('expects a gain of every move, on open nodes only, and never on the node it comes from', () => {
    check(({ nodes = [] }, { moves }) => {
      const open = new Set(nodes.filter(({ isUnschedulable }) => !isUnschedulable).map(({ name }) => name));
      for (const { from, expectedOn, gain } of moves) {
        expect(gain).toBeGreaterThan(0);
        for (const name of [from, ...expectedOn]) expect(open).toContain(name);
        expect(expectedOn).not.toContain(from);
      }
    });
  });

  test('makes no move for a pod that waits for a node (S0-30)', () => {
    const urgent = (n: number) => ({
      ...replica({ name: `urgent${n}`, owner: 'urgent', priority: 1_000_000, requests: { cpu: '4', memory: '1Gi' } }),
      uid: `urgent${n}`,
    });
    check((given, { moves }) => {
      const pods = [...(given.pods ?? []), urgent(0), urgent(1)];
      const moved = ({ pod }: ReschedulingResult['moves'][number]) => pod.placed.pod.uid;
      expect(passOn({ ...given, pods }).moves.map(moved)).toEqual(moves.map(moved));
    });
  });

  test('leaves every node within what it has, whatever the replacements take', () => {
    check(({ nodes = [], pods = [] }, { moves }) => {
      for (const { name, allocatable } of nodes) {
        const arriving = moves.filter(({ expectedOn }) => expectedOn[0] === name).map(({ pod }) => pod.placed.pod);
        const present = pods.filter(({ spec }) => spec.nodeName === name);
        if (arriving.length === 0) continue;
        const cpu = [...present, ...arriving].reduce(
          (sum, { spec }) => sum + cpuOf(spec.containers[0]?.resources.requests),
          0,
        );
        expect(cpu).toBeLessThanOrEqual(cpuOf(allocatable));
      }
    });
  });

  test('comes to rest: passes whose moves are carried out as expected end within a few', () => {
    const drawn = fc.record({ cluster, policy: policies });
    fc.assert(
      fc.property(drawn, ({ cluster: given, policy }) => {
        let pods: readonly Pod[] = given.pods;
        let now = NOON;
        let result = passOn({ ...given, pods, policy, now });
        for (let pass = 0; result.moves.length > 0; pass += 1) {
          expect(pass).toBeLessThan(20);
          pods = carriedOut(pods, result, now);
          now += 600_000;
          result = passOn({ ...given, pods, policy, now, memory: result.memory });
        }
      }),
      { seed: 31, numRuns: 150 },
    );
  });
});

function cpuOf(amounts: Amounts | undefined): number {
  const quantity = amounts?.get('cpu');
  return quantity === undefined ? 0 : Number(quantityMilliValue(quantity));
}

function carriedOut(pods: readonly Pod[], { moves }: ReschedulingResult, at: number): readonly Pod[] {
  const targets = new Map(moves.map(({ pod, expectedOn }) => [pod.placed.pod.uid, expectedOn[0]]));
  return pods.map((pod) => {
    const nodeName = targets.get(pod.uid);
    if (nodeName === undefined) return pod;
    const uid = `${pod.uid}-again`;
    return { ...pod, uid, name: uid, spec: { ...pod.spec, nodeName }, status: { ...pod.status, startTime: at } };
  });
}

test('windows of a schedule: days, and an end on the next day', () => {
  const night = [{ days: [1], start: 22 * 60, end: 4 * 60 }];
  const at = (day: number, hour: number) => isInWindow(night, day * 1_440 + hour * 60);
  expect([at(1, 23), at(2, 3), at(2, 23), at(1, 3), at(2, 4)]).toEqual([true, true, false, false, false]);
  expect(isInWindow([], 0)).toBe(true);
  expect(isInWindow([{ days: [], start: 60, end: 120 }], 90)).toBe(true);
  expect(isInWindow([{ days: [], start: 60, end: 120 }], 120)).toBe(false);
});
