import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { gangsOf } from '#shared/decide/queues/gangs.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const LABELS = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '4' };
const JOB = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'job', controller: true };

const waits = (name: string, change: Partial<WatchedPod> = {}): WatchedPod => ({
  name,
  gates: [GATE],
  labels: LABELS,
  owners: [JOB],
  ...change,
});
const runs = (name: string, change: Partial<WatchedPod> = {}): WatchedPod =>
  waits(name, { gates: [], node: 'node-0', phase: 'Running', admittedTo: 'of-shop', ...change });

const gangs = (plan: QueuePlan) =>
  plan.gangs.map(({ key, queue, min, size, members }) => [
    `${key} ${queue} ${min}/${size}`,
    members.map(({ pod, isIn }) => `${pod.name}${isIn ? '*' : ''}`).join(' '),
  ]);
const refused = (plan: QueuePlan) => plan.outOfGang.map(({ pod, because }) => [pod.name, because.code]);

describe('gangs in a pass of the queues', () => {
  test('waiting and running pods of one gang are its members', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see(waits('a'));
    world.see(runs('b'));
    world.see(waits('single', { labels: {} }));
    expect(gangs(world.plan())).toEqual([['shop/train of-shop 4/4', 'b* a']]);
  });

  test('pods that terminate or are gone are no members; those of a Job that have succeeded are not waited for', () => {
    const world = queueWorld([queueFor('shop')]);
    for (const name of ['a', 'b', 'c', 'd']) world.see(runs(name));
    world.see(runs('a', { phase: 'Succeeded' }));
    world.see(runs('b', { phase: 'Failed' }));
    world.see(runs('c', { deletionAt: 99 }));
    world.see(waits('e'));
    expect(gangs(world.plan())).toEqual([['shop/train of-shop 3/3', 'd* e']]);
    world.gone('a');
    expect(gangs(world.plan())[0]?.[0]).toBe('shop/train of-shop 4/4');
    for (const name of ['d', 'e']) world.gone(name);
    expect([gangs(world.plan()), world.pods.gangs.size]).toEqual([[], 1]);
    for (const name of ['b', 'c']) world.gone(name);
    expect(world.pods.gangs.size).toBe(0);
  });

  test('a pod whose labels name another gang, or none, leaves the one before, and nothing stays of it', () => {
    const world = queueWorld([queueFor('shop')]);
    const wishes = { 'kueue.x-k8s.io/pod-group-total-count': '1' };
    for (const gang of ['first', 'second']) {
      world.see(waits('a', { labels: { 'kueue.x-k8s.io/pod-group-name': gang }, wishes }));
    }
    expect(gangs(world.plan())).toEqual([['shop/second of-shop 1/1', 'a']]);
    world.see(waits('a', { labels: {} }));
    expect([gangs(world.plan()), world.pods.gangs.size]).toEqual([[], 0]);
    world.gone('a');
    expect(world.pods.gangs.size).toBe(0);
  });

  test('a gang that contradicts itself waits, draws no share to its queue, and keeps nobody else', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see(waits('a'));
    world.see(waits('b', { labels: { ...LABELS, 'plimsoll.dev/gang-size': '5' } }));
    world.see(waits('single', { labels: {}, cpu: 2, createdAt: 9 }));
    const plan = world.plan();
    expect([plan.letIn.map(({ name }) => name), gangs(plan)]).toEqual([['shop/single'], []]);
    expect(refused(plan)).toEqual([
      ['a', 'GangSizesDiffer'],
      ['b', 'GangSizesDiffer'],
    ]);
    expect(deservedOf(plan.shares, 1).get('cpu')).toBe(2_000);
  });

  test('a size of 1,000,000, one more than the maximum of the queue, and a missing size are refused by name', () => {
    const world = queueWorld([queueFor('shop', { max: { cpu: 3 } })]);
    world.see(waits('a', { labels: { ...LABELS, 'plimsoll.dev/gang-size': '1000000' } }));
    world.see(waits('b', { labels: { 'plimsoll.dev/gang': 'other' } }));
    for (const name of ['c', 'd', 'e', 'f']) world.see(waits(name));
    expect(refused(world.plan())).toEqual([
      ['a', 'GangSizeInvalid'],
      ['b', 'GangSizeMissing'],
      ['c', 'GangTooLarge'],
      ['d', 'GangTooLarge'],
      ['e', 'GangTooLarge'],
      ['f', 'GangTooLarge'],
    ]);
  });

  test('one name in two namespaces is two gangs', () => {
    const world = queueWorld([queueFor('shop'), queueFor('bank')]);
    world.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    world.see(waits('a'));
    world.see(waits('b', { namespace: 'bank', labels: { ...LABELS, 'plimsoll.dev/gang-size': '2' } }));
    expect(gangs(world.plan()).map(([gang]) => gang)).toEqual(['shop/train of-shop 4/4', 'bank/train of-bank 2/2']);
  });

  test('no queue is looked for in which a pod stands that was let in to one', () => {
    const world = queueWorld([queueFor('shop')]);
    for (const name of ['a', 'b', 'c', 'd']) world.see(runs(name));
    const sought: string[] = [];
    const find = ({ label }: { readonly label: string }) => {
      sought.push(label);
      return { kind: 'none', because: { code: '', text: '', facts: {} } } as const;
    };
    const tree = world.plan().directory.tree;
    const input = { gangs: world.pods.gangs, tree, find, counted: (requests: QueueAmounts) => requests };
    expect([finish(gangsOf(input)).gangs[0]?.members.length, sought]).toEqual([4, []]);
  });

  test('the annotations of Kueue are kept by the reader of pods, and so is a PodGroup', () => {
    const world = queueWorld([queueFor('shop')]);
    const labels = { 'kueue.x-k8s.io/pod-group-name': 'kueue' };
    world.see(waits('a', { labels, wishes: { 'kueue.x-k8s.io/pod-group-total-count': '3' } }));
    world.see(waits('b', { labels: {}, spec: { schedulingGroup: { podGroupName: 'native' } } }));
    const plan = world.plan(false, 'Guarantees', { minOfGroup: ({ api }) => (api === 'scheduling.k8s.io' ? 2 : 0) });
    expect(gangs(plan).map(([gang]) => gang)).toEqual(['shop/kueue of-shop 3/3', 'shop/native of-shop 2/2']);
  });
});
