import { describe, expect, test } from 'vitest';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const RUNNING = { node: 'node-0', phase: 'Running', admittedTo: 'of-shop', cpu: 2 } as const;
const WAITING = { gates: [GATE], cpu: 2 } as const;
const owned = (uid: string) => ({
  owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true }],
});

/** Of two pods of owner `web` one is disrupted at 100 s; an older pod waits, and then two new ones of the owner. There is room for three. */
function world(lost: Partial<WatchedPod>) {
  const made = queueWorld([queueFor('shop')]);
  made.see({ name: 'a', ...RUNNING, ...owned('web') });
  made.see({ name: 'lost', ...RUNNING, ...owned('web'), owners: lost.owners ?? owned('web').owners });
  made.see({ name: 'lost', ...RUNNING, ...owned('web'), ...lost });
  made.gone('lost');
  made.see({ name: 'older', ...WAITING, createdAt: 10 });
  for (const name of ['new-1', 'new-2']) made.see({ name, ...WAITING, ...owned('web'), createdAt: 101 });
  return made;
}

function order(made: ReturnType<typeof world>, seconds: number, replacements: 'First' | 'InTurn' = 'First') {
  const { letIn } = made.plan(false, 'Guarantees', { now: seconds * 1_000, replacements });
  return letIn.map(({ name }) => name.replace('shop/', ''));
}

const DISRUPTED = { deletionAt: 130, isDisrupted: true };

describe('the replacement of a disrupted pod goes in before an older one of the same priority (S3-45)', () => {
  test('as many as were lost', () => {
    expect(order(world(DISRUPTED), 110)).toEqual(['new-1', 'older', 'new-2']);
  });

  test('against what they replace: none that requests more', () => {
    const made = world({ ...DISRUPTED, cpu: 1 });
    made.see({ name: 'new-3', ...WAITING, cpu: 1, ...owned('web'), createdAt: 102 });
    expect(order(made, 110)).toEqual(['new-3', 'older', 'new-1']);
  });

  test('of a pod that failed, too', () => {
    expect(order(world({ phase: 'Failed', isDisrupted: true }), 110)).toEqual(['new-1', 'older', 'new-2']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['failed by itself', { phase: 'Failed' }],
    ['was deleted', { deletionAt: 130 }],
  ])('of a pod of a Job that %s, too', (_, lost) => {
    const job = (name: string) => ({
      owners: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: name, controller: true }],
    });
    const made = queueWorld([queueFor('shop')]);
    const pod = { name: 'lost', ...RUNNING, ...job('train') };
    made.see(pod);
    made.see({ ...pod, ...lost });
    made.gone('lost');
    made.see({ name: 'older', ...WAITING, createdAt: 10 });
    made.see({ name: 'other', ...WAITING, ...job('eval'), createdAt: 20 });
    made.see({ name: 'new-1', ...WAITING, ...job('train'), createdAt: 101 });
    expect(order(made, 110)).toEqual(['new-1', 'older', 'other']);
  });

  test.each<[string, string, Partial<WatchedPod>]>([
    ['a Job', 'Job', { deletionAt: 100 }],
    ['a Deployment, evicted', 'ReplicaSet', DISRUPTED],
  ])('not of one of %s, that waited: its tenant could pass all others by deleting it', (_, kind, lost) => {
    const owner = { owners: [{ ...owned('train').owners[0], kind }] };
    const made = queueWorld([queueFor('shop')]);
    made.see({ name: 'lost', ...WAITING, ...owner, createdAt: 20 });
    made.see({ name: 'lost', ...WAITING, ...owner, createdAt: 20, ...lost });
    made.gone('lost');
    made.see({ name: 'older', ...WAITING, createdAt: 10 });
    made.see({ name: 'new-1', ...WAITING, ...owner, createdAt: 101 });
    expect(order(made, 110)).toEqual(['older', 'new-1']);
  });

  test('not of one that completed', () => {
    const made = world({ phase: 'Succeeded', owners: [{ ...owned('web').owners[0], kind: 'Job' }] });
    expect(order(made, 110)[0]).toBe('older');
  });

  test('not before one of higher priority', () => {
    const made = world(DISRUPTED);
    made.see({ name: 'urgent', ...WAITING, priority: 1, createdAt: 105 });
    expect(order(made, 110)).toEqual(['urgent', 'new-1', 'older']);
  });

  test('not where it is to wait in its turn', () => {
    expect(order(world(DISRUPTED), 110, 'InTurn')).toEqual(['older', 'new-1', 'new-2']);
  });

  test.each<[string, Partial<WatchedPod>, number]>([
    ['a minute later', DISRUPTED, 161],
    ['where the pod was deleted, as by a rollout', { deletionAt: 130 }, 110],
    ['where the pod had no owner', { ...DISRUPTED, owners: [] }, 110],
    ['where the pod of another owner was lost', { ...DISRUPTED, ...owned('other') }, 110],
    ['where the new pods are older than the disruption', { deletionAt: 180, isDisrupted: true }, 155],
  ])('not %s', (_, lost, seconds) => {
    expect(order(world(lost), seconds)).toEqual(['older', 'new-1', 'new-2']);
  });

  test('not where the pod had failed before this process saw it', () => {
    const made = queueWorld([queueFor('shop')]);
    made.see({ name: 'lost', ...RUNNING, ...owned('web'), phase: 'Failed', isDisrupted: true });
    made.see({ name: 'older', ...WAITING, createdAt: 10 });
    made.see({ name: 'new-1', ...WAITING, ...owned('web'), createdAt: 101 });
    expect(order(made, 110)[0]).toBe('older');
  });

  test('not where the pod made room for another queue, whichever is seen first', () => {
    const after = world(DISRUPTED);
    after.pods.lost.reclaimed('uid-lost');
    expect(order(after, 110)[0]).toBe('older');
    const before = queueWorld([queueFor('shop')]);
    before.pods.lost.reclaimed('uid-lost');
    before.see({ name: 'lost', ...RUNNING, ...owned('web'), ...DISRUPTED });
    before.see({ name: 'older', ...WAITING, createdAt: 10 });
    before.see({ name: 'new-1', ...WAITING, ...owned('web'), createdAt: 101 });
    expect(order(before, 110)[0]).toBe('older');
  });
});
