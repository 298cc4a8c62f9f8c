import { expect, test } from 'vitest';
import { randomSource } from '#test/fakes/random-source.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const MAX = 4;
const SIZES = [1, 1, 2, 3] as const;
const STEPS = 60;
const SEEDS = 15;
const GRACE_SECONDS = 30;

/** A pod that says it is of one of two Deployments, and of one of three revisions. */
function claims(deployment: number, revision: number): Pick<WatchedPod, 'labels' | 'owners'> {
  const [name, uid] = [`d${deployment}-h${revision}`, `rs-${deployment}-${revision}`];
  return {
    labels: { 'pod-template-hash': `h${revision}` },
    owners: [{ apiVersion: 'example.com/v1', kind: 'ReplicaSet', name, uid, controller: true }],
  };
}

/** A tenant creates, deletes and relabels pods as it likes; the most that its queue had, and how many pods went in against others. */
function attack(seed: number) {
  const random = randomSource(seed);
  let [now, last, most, entered] = [100_000, 0, 0, 0];
  const world = queueWorld([queueFor('shop', { max: { cpu: MAX } })], { 'node-0': 100 }, { now: () => now });
  const pods = new Map<string, WatchedPod>();
  const put = (pod: WatchedPod): void => {
    pods.set(pod.name, pod);
    world.see(pod);
  };
  const end = ({ name }: WatchedPod): void => {
    pods.delete(name);
    world.gone(name);
  };
  const create = (): void => {
    last += 1;
    const claim = claims(random.below(2), random.below(3));
    put({ name: `p${last}`, cpu: random.pick(SIZES), gates: [GATE], createdAt: Math.floor(now / 1_000), ...claim });
  };
  const change = (pod: WatchedPod): void => {
    const changes = [
      () => end(pod),
      () => put({ ...pod, labels: {} }),
      () => put({ ...pod, ...claims(random.below(2), random.below(3)) }),
      () => put({ deletionAt: Math.floor(now / 1_000) + GRACE_SECONDS, ...pod }),
    ];
    random.pick(changes)();
  };
  const letIn = (): void => {
    for (const { name, against } of world.plan(true, 'Guarantees', { now }).letIn) {
      const pod = pods.get(name.replace('shop/', ''));
      if (pod === undefined) continue;
      const before = against && { against: Number(against.get('cpu') ?? 0) / 1_000 };
      entered += Number(against !== undefined);
      const admitted = { admittedTo: 'of-shop', admittedAt: now / 1_000, ...before };
      // What it said until then has let it in.
      const disguise = against !== undefined && random.chance(0.7) ? { labels: {} } : {};
      put({ ...pod, gates: [], node: 'node-0', phase: 'Running', ...admitted, ...disguise });
    }
  };
  for (let step = 0; step < STEPS; step += 1) {
    now += 1_000 * (1 + random.below(20)) + (random.chance(0.02) ? 1_000_000 : 0);
    const pod = [...pods.values()][random.below(Math.max(1, pods.size))];
    if (pod === undefined || random.chance(0.4)) create();
    else change(pod);
    for (const each of pods.values()) if ((each.deletionAt ?? Infinity) * 1_000 <= now) end(each);
    for (let pass = 0; pass < 3; pass += 1) letIn();
    const running = [...pods.values()].filter(({ gates = [] }) => gates.length === 0);
    most = Math.max(
      most,
      running.reduce((sum, { cpu = 0 }) => sum + cpu, 0),
    );
  }
  return { most, entered };
}

test('whatever a tenant says of its pods and does with them, its queue is one pod above its maximum at most', () => {
  const attacks = Array.from({ length: SEEDS }, (_, seed) => attack(seed));
  expect(Math.max(...attacks.map(({ most }) => most))).toBeLessThanOrEqual(MAX + Math.max(...SIZES));
  expect(attacks.reduce((sum, { entered }) => sum + entered, 0)).toBeGreaterThan(SEEDS);
});
