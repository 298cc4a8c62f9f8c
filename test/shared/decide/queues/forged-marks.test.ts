import { describe, expect, test } from 'vitest';
import { usedBy } from '#shared/domain/queue/usage.ts';
import { PodAmounts, QueueCharges } from '#shared/decide/queues/queue-charges.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { queueFor, queueWorld, rawPod, type WatchedPod } from './queue-world.ts';

const MANAGED = { team: 'late', 'plimsoll.dev/queues': 'managed' };
const FORGED = { name: 'a', namespace: 'late', node: 'node-0', phase: 'Running', admittedTo: 'of-shop', cpu: 3 };

function lateWorld() {
  const world = queueWorld([queueFor('shop'), queueFor('late')]);
  world.manage('late', { team: 'late' });
  const used = () => {
    const { used: usage, directory } = world.plan();
    return ['of-shop', 'of-late'].map((name) => usedBy(usage, directory.tree.indexes.get(name) ?? -1, 'cpu'));
  };
  return { ...world, used };
}

describe('a mark that the leader of the queues did not write', () => {
  test('written before the namespace was managed, it counts for its own queue, and is removed', () => {
    const world = lateWorld();
    world.see(FORGED);
    world.manage('late', MANAGED);
    expect(world.used()).toEqual([0, 3_000]);
    world.see(FORGED);
    expect([world.used(), [...world.pods.forged()].map(({ name }) => name)]).toEqual([[0, 3_000], ['a']]);
    world.see({ ...FORGED, admittedTo: undefined } as unknown as WatchedPod);
    expect([...world.pods.forged()]).toEqual([]);
  });

  test('of a mirror pod, it does not count in a managed namespace either', () => {
    const world = lateWorld();
    world.manage('late', MANAGED);
    const raw = rawPod(FORGED);
    const annotations = { ...raw.metadata.annotations, 'kubernetes.io/config.mirror': 'x' };
    const mirror = { ...raw, metadata: { ...raw.metadata, annotations } };
    world.pods.observe({ pod: createPodReader()(mirror), raw: mirror }, world.snapshot);
    expect([...world.pods.forged()].length).toBe(1);
    expect(world.pods.get('uid-a')?.admitted).toBeUndefined();
  });

  test('where the namespace is not known yet, it is the leader that wrote it', () => {
    const world = lateWorld();
    const raw = rawPod({ ...FORGED, namespace: 'unseen' });
    world.pods.observe({ pod: createPodReader()(raw), raw }, world.snapshot);
    expect([...world.pods.forged()]).toEqual([]);
  });

  test('it is forgotten with its pod', () => {
    const world = lateWorld();
    world.see(FORGED);
    world.gone('a');
    expect([...world.pods.forged()]).toEqual([]);
  });

  test('the rules for preemptions do not believe it either', () => {
    const world = lateWorld();
    const charges = new QueueCharges(new PodAmounts());
    const raw = rawPod(FORGED);
    const seen = { pod: createPodReader()(raw), raw };
    charges.observe(seen, world.snapshot);
    expect(charges.get('uid-a')).toBeUndefined();
    world.manage('late', MANAGED);
    charges.observe(seen, world.snapshot);
    expect(charges.get('uid-a')?.admittedTo).toBeUndefined();
  });
});

describe('a mark on a pod that is older than the policy that guards marks', () => {
  /** The policy has been in force since second 100, and the queue of `shop` also admits the label `other`. */
  function guardedWorld() {
    const queues = [queueFor('shop'), queueFor('shop', {}, 'other'), queueFor('late')];
    const world = queueWorld(queues, { 'node-0': 8 }, { isGuarded: (createdAt) => createdAt >= 100_000 });
    const pass = () => {
      const plan = world.plan();
      world.pods.settleClaims(plan.claims);
      return plan;
    };
    const used = () => {
      const { used: usage, directory } = pass();
      return ['of-shop', 'of-late', 'other'].map((name) =>
        usedBy(usage, directory.tree.indexes.get(name) ?? -1, 'cpu'),
      );
    };
    return { ...world, pass, used, forged: () => [...world.pods.forged()].map(({ name }) => name) };
  }
  const running = { name: 'a', node: 'node-0', phase: 'Running', cpu: 3 };

  test('takes nothing from the queue that it names, and is removed', () => {
    const world = guardedWorld();
    world.see({ ...running, admittedTo: 'of-late', against: 5 });
    expect([world.used(), world.forged()]).toEqual([[3_000, 0, 0], ['a']]);
    world.see({ ...running, admittedTo: 'of-late' });
    expect(world.used()).toEqual([3_000, 0, 0]);
    expect(world.pods.get('uid-a')?.admitted).toBeUndefined();
  });

  test('of a younger pod, it is the leader that wrote it', () => {
    const world = guardedWorld();
    world.see({ ...running, createdAt: 100, admittedTo: 'of-late' });
    expect([world.used(), world.forged()]).toEqual([[0, 3_000, 0], []]);
  });

  test('counts where it names the queue of the pod: no upgrade takes the place of a pod', () => {
    const world = guardedWorld();
    world.see({ ...running, admittedTo: 'of-shop', application: 'app', mayBePreempted: true, against: 5 });
    world.pass();
    const admitted = { queue: 'of-shop', application: 'app', mayBePreempted: true };
    expect(world.pods.get('uid-a')?.admitted).toMatchObject(admitted);
    expect(world.pods.get('uid-a')?.admitted?.against).toBeUndefined();
    world.see({ ...running, admittedTo: 'of-shop', application: 'app', mayBePreempted: true, labels: { team: 'x' } });
    expect([world.used(), world.pods.get('uid-a')?.admitted]).toMatchObject([[3_000, 0, 0], admitted]);
  });

  test('names no time to come, with which a pod without a node would keep its share for ever', () => {
    const world = guardedWorld();
    world.see({ name: 'a', admittedTo: 'of-shop', admittedAt: 1_000_000 });
    world.pass();
    expect(world.pods.get('uid-a')?.admitted?.at).toBe(100_000);
  });

  test('stays where its own queue is missing for now', () => {
    const world = guardedWorld();
    world.manage('bare', { 'plimsoll.dev/queues': 'managed' });
    world.see({ ...running, namespace: 'bare', admittedTo: 'of-shop' });
    expect([world.used(), world.forged()]).toEqual([[0, 0, 0], []]);
  });

  test('stays where no guard is known, and counts when the guard turns out to be older than the pod', () => {
    let since = Infinity;
    const world = queueWorld(
      [queueFor('shop'), queueFor('late')],
      { 'node-0': 8 },
      { isGuarded: (createdAt) => createdAt >= since },
    );
    const pass = () => world.pods.settleClaims(world.plan().claims);
    world.see({ ...running, createdAt: 50, admittedTo: 'of-late' });
    pass();
    expect([[...world.pods.forged()], world.pods.get('uid-a')?.admitted]).toEqual([[], undefined]);
    since = 40_000;
    pass();
    expect(world.pods.get('uid-a')?.admitted?.queue).toBe('of-late');
  });

  test('the rules for preemptions take it for none', () => {
    const world = guardedWorld();
    const charges = new QueueCharges(new PodAmounts(), (createdAt) => createdAt >= 100_000);
    const judge = (createdAt: number) => {
      const raw = rawPod({ ...running, createdAt, admittedTo: 'of-late' });
      charges.observe({ pod: createPodReader()(raw), raw }, world.snapshot);
      return charges.get('uid-a')?.admittedTo;
    };
    expect([judge(99), judge(100)]).toEqual([undefined, 'of-late']);
  });
});
