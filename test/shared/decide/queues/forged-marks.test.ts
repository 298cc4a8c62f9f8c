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
