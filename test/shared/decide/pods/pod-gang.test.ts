import { expect, test } from 'vitest';
import { podGang } from '#shared/decide/pods/pod-gang.ts';
import { buildPod, type PodFields } from '#test/build/cluster.ts';

const JOB = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'job', isController: true };
const OF_EIGHT = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '8' };
const OF_SIX = { ...OF_EIGHT, 'plimsoll.dev/gang-min': '6' };

function pods(count: number, fields: Partial<PodFields>, from = 0) {
  return Array.from({ length: count }, (_, index) =>
    buildPod({ namespace: 'shop', name: `train-${from + index}`, labels: OF_EIGHT, owners: [JOB], ...fields }),
  );
}

const elsewhere = pods(3, { namespace: 'bank' });
const ended = pods(2, { phase: 'Failed' }, 20);
const leaving = pods(1, { deletion: { at: 0, gracePeriodSeconds: 30 } }, 30);

test.each([
  ['no gang', pods(1, { labels: { app: 'web' } }), undefined],
  [
    'some of its pods, none of other namespaces, ended or leaving',
    [...pods(5, {}), ...elsewhere, ...ended, ...leaving],
    'shop/train: 5 of 8 pods exist, 0 let in; all of them run together',
  ],
  [
    'a minimum',
    [...pods(3, { labels: OF_SIX, node: 'node-1' }), ...pods(4, { labels: OF_SIX }, 3)],
    'shop/train: 7 of 8 pods exist, 3 let in; at least 6 run together',
  ],
  [
    'pods that have succeeded are not waited for',
    [...pods(5, { node: 'node-1' }), ...pods(3, { phase: 'Succeeded' }, 5)],
    'shop/train: 5 of 5 pods exist, 5 let in; all of them run together',
  ],
  [
    'different sizes',
    [...pods(1, {}), ...pods(1, { labels: OF_SIX }, 1)],
    'the pods of gang shop/train name different sizes: 8 (1 of its pods), 8 (at least 6) (1 of its pods)',
  ],
  [
    'a size that is none',
    pods(1, { labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': 'many' } }),
    'plimsoll.dev/gang-size must be a whole number from 1 to 1000, not "many"',
  ],
  [
    'a PodGroup',
    pods(2, { labels: { 'scheduling.x-k8s.io/pod-group': 'train' } }),
    'shop/train: 2 pods exist; how many run together is said by its PodGroup of scheduling.x-k8s.io',
  ],
])('the gang of a pod: %s', (_, all, text) => {
  const [pod] = all;
  expect(pod && podGang(pod, all)).toBe(text);
});
