import { describe, expect, test } from 'vitest';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { needlessPreemptions, type PodEvent } from './preemption-history.ts';

const NODES = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '4' } }));
const created = (name: string, priority: number, more: Partial<PodFields> = {}): PodEvent => ({
  kind: 'created',
  pod: buildPod({ name, priority, requests: { cpu: '4' }, ...more }),
});
const bound = (name: string, node: string): PodEvent => ({ kind: 'bound', pod: `default/${name}`, node });
const removed = (name: string, isPreemption = true): PodEvent => ({
  kind: 'removed',
  pod: `default/${name}`,
  isPreemption,
});
const FULL = [created('a', 0, { node: 'n0' }), created('b', 5, { node: 'n1' })];

describe('needlessPreemptions', () => {
  test.each<[string, readonly PodEvent[], readonly string[]]>([
    ['a pod that was in the way of a higher one was needed', [...FULL, created('p', 9), removed('a')], []],
    ['without a pending pod none is', [...FULL, removed('a')], ['default/a']],
    ['nor for one of equal priority', [...FULL, created('p', 5), removed('b')], ['default/b']],
    ['nor for one that is placed already', [...FULL, created('p', 9), bound('p', 'n1'), removed('a')], ['default/a']],
    ['nor where the pod fits without', [FULL[0] as PodEvent, created('p', 9), removed('a')], ['default/a']],
    ['nor a second one', [...FULL, created('p', 9), removed('a'), removed('b')], ['default/b']],
    [
      'nor one whose room does not help',
      [...FULL, created('p', 9, { requests: { cpu: '5' } }), removed('a')],
      ['default/a'],
    ],
    ['pods that end otherwise are no preemption', [...FULL, removed('a', false)], []],
  ])('%s', (_, history, needless) => {
    expect(needlessPreemptions(NODES, history)).toEqual(needless);
  });
});
