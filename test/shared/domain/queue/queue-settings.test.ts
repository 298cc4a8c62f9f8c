import { describe, expect, test } from 'vitest';
import { plainQueue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import {
  announcementsDue,
  delayOf,
  ineffectiveSettings,
  uncoveredGuarantees,
} from '#shared/domain/queue/queue-settings.ts';

describe('settings of a queue', () => {
  test.each([
    [undefined, 30_000],
    ['45s', 45_000],
    ['1m30s', 90_000],
    ['0s', undefined],
    ['-5s', undefined],
    ['soon', undefined],
    ['30', undefined],
  ])('the delay %s means %s ms (S2-33)', (text, expected) => {
    expect(delayOf(text)).toBe(expected);
  });

  const tree = createQueueTree([plainQueue('top'), plainQueue('leaf', 'top')]);
  const nothing = { policy: undefined, delay: undefined, isSelecting: false };
  test.each([
    ['leaf', { ...nothing, delay: '10s', policy: 'Fence', isSelecting: true }, []],
    [
      'leaf',
      { ...nothing, delay: 'soon' },
      ['preemption.delay must be a positive duration such as 30s; got "soon", using 30s'],
    ],
    ['top', { ...nothing, delay: '10s' }, ['preemption.delay has no effect on a queue with children']],
    ['root', { ...nothing, policy: 'Fence' }, ['preemption.policy has no effect on the queue root']],
    ['top', { ...nothing, reclaim: { mode: 'Enforce' } }, ['reclaim has no effect on a queue other than root']],
    ['root', { ...nothing, reclaim: { mode: 'Enforce' } }, []],
    ['root', { ...nothing, reclaim: { mode: 'On' } }, [expect.stringContaining('using DryRun, and no pod is evicted')]],
    ['top', { ...nothing, isSelecting: true }, ['namespaceSelector has no effect on a queue with children']],
  ])('what has no effect on %s is said (S2-32, S2-33): %j', (name, written, expected) => {
    expect(ineffectiveSettings({ name, ...written }, { tree, index: tree.indexes.get(name) ?? 0 })).toEqual(expected);
  });

  test.each([
    ['cpu', []],
    ['pods', []],
    ['hugepages-2Mi', []],
    ['example.com/gpu', []],
    ['requests.cpu', ['max.requests.cpu has no effect: no pod can request requests.cpu; use cpu']],
    ['requests.example.com/gpu', [expect.stringContaining('; use example.com/gpu')]],
    ['limits.cpu', ['max.limits.cpu has no effect: no pod can request limits.cpu']],
    ['count/pods', ['max.count/pods has no effect: no pod can request count/pods']],
    ['gold.storageclass.storage.k8s.io/requests.storage', [expect.stringContaining('has no effect')]],
    ['nvidia.com', ['max.nvidia.com has no effect: no pod can request nvidia.com']],
  ])('a maximum of %s: %j', (type, expected) => {
    const written = { name: 'leaf', ...nothing, types: [['max', type] as const] };
    expect(ineffectiveSettings(written, { tree, index: tree.indexes.get('leaf') ?? 0 })).toEqual(expected);
  });

  test('guarantees of a type that no node reports are reported as well', () => {
    const queues = createQueueTree([{ ...plainQueue('a'), guaranteed: new Map([['example.com/gpu', 4_000]]) }]);
    expect(uncoveredGuarantees(queues, new Map())).toEqual([
      'example.com/gpu: guaranteed 4, available 0: no node reports it',
    ]);
  });

  test('guarantees above what there is are reported, by type (S2-19)', () => {
    const guaranteed = (amount: number) => new Map([['cpu', amount]]);
    const queues = createQueueTree([
      { ...plainQueue('a'), guaranteed: guaranteed(3_000) },
      ...[plainQueue('b'), { ...plainQueue('c', 'b'), guaranteed: guaranteed(2_500) }],
    ]);
    expect(uncoveredGuarantees(queues, guaranteed(5_500))).toEqual([]);
    expect(uncoveredGuarantees(queues, guaranteed(5_000))).toEqual(['cpu: guaranteed 5500m, available 5']);
  });

  test('a waiting pod is told at once, and after 1, 10 and 60 minutes', () => {
    const minutes = [0, 0.9, 1, 9, 10, 59, 60, 600];
    expect(minutes.map((each) => announcementsDue(0, each * 60_000))).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  });
});
