import { describe, expect, test } from 'vitest';
import {
  type DisruptionLimit,
  type DisruptionPolicy,
  countPods,
  coveringRules,
} from '#shared/domain/disruption/disruption-limit.ts';
import { DEFAULT_RETENTION, CAUSES } from '#shared/domain/disruption/disruption.ts';
import { componentOf } from '#shared/domain/disruption/limit-rule.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildPod, selectorOf } from '#test/build/cluster.ts';
import { HOUR, pods } from './accounts.ts';
import { OWNER } from './seen-removals.ts';

const READY = [{ type: 'Ready', status: 'True', reason: '' }];

function pod(name: string, more: Partial<Pod> = {}, priority = 0): Pod {
  const built = buildPod({ name, labels: { app: 'web' }, priority });
  return { ...built, owners: [OWNER], status: { ...built.status, conditions: READY }, ...more };
}

function limit(name: string, labels: Readonly<Record<string, string>>): DisruptionLimit {
  const selector = prepareSelector(selectorOf(labels));
  const limits = [{ max: pods(1), windowMs: HOUR }];
  return { namespace: 'default', name, selector, limits, minAvailable: undefined, shares: new Map() };
}

const POLICY: DisruptionPolicy = {
  name: 'plimsoll',
  forbiddingBudgets: 'Show',
  retention: DEFAULT_RETENTION,
  defaults: [
    { min: 1_000, max: Infinity, limits: [{ max: pods(1), windowMs: HOUR }], minAvailable: undefined },
    { min: -Infinity, max: 999, limits: [{ max: pods(5), windowMs: HOUR }], minAvailable: undefined },
  ],
};
const NONE = { limits: [], budgets: [], policy: undefined };

describe('the rules that cover a pod', () => {
  const keys = (asked: Pod, of: Partial<Parameters<typeof coveringRules>[2]>) =>
    coveringRules(asked, [asked], { ...NONE, ...of }).map(({ rule }) => rule.key);

  test('are those of every limit that selects it, and then no default', () => {
    const limits = [limit('web', { app: 'web' }), limit('all', {}), limit('db', { app: 'db' })];
    expect(keys(pod('a'), { limits, policy: POLICY })).toEqual(['limit/web', 'limit/all']);
  });

  test('none without a limit and a default (S3-22)', () => {
    expect(keys(pod('a'), {})).toEqual([]);
  });

  test.each([
    ['that is pending', { phase: 'Pending' }, []],
    ['that a kubelet refused', { phase: 'Failed', reason: 'OutOfcpu' }, []],
    ['that runs', { phase: 'Running' }, ['limit/web']],
    ['that failed', { phase: 'Failed', reason: 'Evicted' }, ['limit/web']],
  ])('of a pod %s: none if it has not run', (_, status, rules) => {
    const built = pod('a');
    const asked = { ...built, status: { ...built.status, ...status } };
    expect(keys(asked, { limits: [limit('web', { app: 'web' })], policy: POLICY })).toEqual(rules);
  });

  test('the default of its priority for its owner, more generous for a lower one (S3-18)', () => {
    const most = [0, 1_000].map(
      (priority) => coveringRules(pod('a', {}, priority), [], { ...NONE, policy: POLICY })[0]?.rule,
    );
    expect(most.map((rule) => [rule?.key, rule?.limits[0]?.max.value])).toEqual([
      ['owner/uid-web', 5],
      ['owner/uid-web', 1],
    ]);
  });

  test('a pod without a priority has the default of priority 0, as Kubernetes counts it', () => {
    const { spec } = pod('a');
    const [covering] = coveringRules(pod('a', { spec: { ...spec, priority: undefined } }), [], {
      ...NONE,
      policy: POLICY,
    });
    expect(covering?.rule.limits[0]?.max.value).toBe(5);
  });

  test('no default for a pod with a budget, nor for one without an owner', () => {
    const budgets = [prepareSelector(selectorOf({ app: 'web' }))];
    expect(keys(pod('a'), { budgets, policy: POLICY })).toEqual([]);
    expect(keys(pod('a', { owners: [] }), { policy: POLICY })).toEqual([]);
  });

  test('a default counts the pods of the same owner alone', () => {
    const other = pod('c', { owners: [{ ...OWNER, uid: 'uid-db' }] });
    const [rule] = coveringRules(pod('a'), [pod('a'), pod('b'), other], { ...NONE, policy: POLICY });
    expect([rule?.expected, rule?.up.size]).toEqual([2, 2]);
  });
});

describe('what a percentage counts', () => {
  const deletion = { at: 0, gracePeriodSeconds: 30 };
  const statefulSet = [{ ...OWNER, kind: 'StatefulSet' }];
  const { status } = pod('a');

  test.each<readonly [string, Partial<Pod>, number, number]>([
    ['a pod that is Ready', {}, 1, 1],
    ['one that waits for a gate or a node', { status: { ...status, phase: 'Pending', conditions: [] } }, 1, 0],
    ['one that terminates and is replaced at once', { deletion }, 0, 0],
    ['one of a StatefulSet that terminates', { deletion, owners: statefulSet }, 1, 0],
    ['one that has ended', { status: { ...status, phase: 'Succeeded' } }, 0, 0],
  ])('%s', (_, more, expected, up) => {
    const counted = countPods([pod('a', more)]);
    expect([counted.expected, counted.up.size]).toEqual([expected, up]);
  });
});

test('every cause is counted for a component', () => {
  expect(CAUSES.map(componentOf)).toEqual([
    'KubeScheduler',
    'Agent',
    'Kubelet',
    'Scheduler',
    'Scheduler',
    'Others',
    'Others',
    'Others',
    'Kubelet',
    'Others',
    'Others',
  ]);
});
