import { describe, expect, test } from 'vitest';
import { DEFAULT_RETENTION } from '#shared/domain/disruption/disruption.ts';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { Debit } from '#shared/domain/disruption/account.ts';
import type { DefaultLimit, DisruptionLimit, LimitsOfNamespace } from '#shared/domain/disruption/disruption-limit.ts';
import type { Component } from '#shared/domain/disruption/limit-rule.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { createPodLimits } from '#shared/domain/rescheduling/limit-room.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { withGangLimits } from '#shared/kube/annotations/running-gangs.ts';
import { buildNode, selectorOf } from '#test/build/cluster.ts';
import { codeOf, movesOf, NOON, passOn, replica } from '#test/build/rescheduling.ts';

const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
const PODS = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 3}` }));
const TWO_AN_HOUR = [{ max: { value: 2, isPercent: false }, windowMs: HOUR_MS }];

function limitOf(changes: Partial<DisruptionLimit>): DisruptionLimit {
  const selector = prepareSelector(selectorOf({ app: 'o0' }));
  const rules = { limits: [], minAvailable: undefined, shares: new Map<Component, number>() };
  return { namespace: 'default', name: 'web', selector, ...rules, ...changes };
}

function debit(uid: string, minutesAgo: number, component: Component, rule = 'limit/web'): Debit {
  const at = NOON - minutesAgo * 60_000;
  const nothing = { cause: undefined, caller: undefined, overran: undefined };
  return { uid, pod: uid, at, component, rules: [rule], lapsesAt: at + HOUR_MS, ...nothing };
}

function limitsWith(limits: Partial<LimitsOfNamespace>, account: readonly Debit[] = []) {
  const known = { limits: [], budgets: [], policy: undefined, ...limits };
  const nothing = { limits: [], budgets: [], policy: undefined };
  return createPodLimits({
    limits: (namespace) => (namespace === 'default' ? known : nothing),
    pods: () => PODS,
    account: () => account,
    now: NOON,
  });
}

const [O0, O1] = PODS as [Pod, Pod];

describe('the limits of a pod', () => {
  test.each<[string, Partial<DisruptionLimit>, readonly Debit[], number]>([
    ['all of a window in which no pod was removed', { limits: TWO_AN_HOUR }, [], 2],
    ['what others have left of it', { limits: TWO_AN_HOUR }, [debit('x', 59, 'Agent')], 1],
    ['nothing once it is full', { limits: TWO_AN_HOUR }, [debit('x', 9, 'Agent'), debit('y', 9, 'Others')], 0],
    ['what has left the window again', { limits: TWO_AN_HOUR }, [debit('x', 61, 'Agent')], 2],
    ['the own share', { limits: TWO_AN_HOUR, shares: new Map([['Scheduler', 50]]) }, [], 1],
    [
      'nothing of a share that is used up',
      { limits: TWO_AN_HOUR, shares: new Map([['Scheduler', 50]]) },
      [debit('x', 9, 'Scheduler')],
      0,
    ],
    ['the pods above the least that must be up', { minAvailable: { value: 2, isPercent: false } }, [], 1],
    ['none where fewer are up', { minAvailable: { value: 9, isPercent: false } }, [], 0],
  ])('%s', (_, changes, account, left) => {
    const name = 'DisruptionLimit default/web';
    expect(limitsWith({ limits: [limitOf(changes)] }, account)(O0)).toEqual([{ name, left }]);
  });

  test('are those of its namespace that select it', () => {
    const limitsOf = limitsWith({ limits: [limitOf({ limits: TWO_AN_HOUR })] });
    expect([O0, O1, { ...O0, namespace: 'other' }].map((pod) => limitsOf(pod).length)).toEqual([1, 0, 0]);
  });

  test('are the same for all pods that they cover', () => {
    const limitsOf = limitsWith({ limits: [limitOf({ limits: TWO_AN_HOUR })] });
    const [other] = PODS.filter((pod) => pod !== O0 && pod.labels.get('app') === 'o0');
    expect(limitsOf(other as Pod)[0]).toBe(limitsOf(O0)[0]);
  });
});

describe('the default limit of an owner', () => {
  const least = { value: 2, isPercent: false };
  const anyPriority = { min: -(2 ** 31), max: 2 ** 31 - 1, limits: TWO_AN_HOUR, minAvailable: undefined };
  const policyOf = (change: Partial<DefaultLimit> = {}) => {
    const defaults = [{ ...anyPriority, ...change }];
    return { policy: { name: 'default', defaults, forbiddingBudgets: 'Show' as const, retention: DEFAULT_RETENTION } };
  };
  const name = 'the default limit of default/ReplicaSet/o0';
  const byDefault = (minutesAgo: number) => debit(`x${minutesAgo}`, minutesAgo, 'Agent', 'owner/owner-o0');

  test.each<[string, Partial<DefaultLimit>, readonly Debit[], number]>([
    ['leaves all of a window in which no pod was removed', {}, [], 2],
    ['leaves what was not used of it', {}, [byDefault(9)], 1],
    ['does not count what another limit counts', {}, [debit('x', 9, 'Agent')], 2],
    ['leaves the pods above the least that must be up', { limits: [], minAvailable: least }, [], 1],
  ])('%s', (_, change, account, left) => {
    expect(limitsWith(policyOf(change), account)(O0)).toEqual([{ name, left }]);
  });

  test('is one for each owner', () => {
    const limitsOf = limitsWith(policyOf(), [byDefault(9), byDefault(8)]);
    expect([O0, O1].map((pod) => limitsOf(pod)[0]?.left)).toEqual([0, 2]);
  });

  test.each<[string, Partial<LimitsOfNamespace>]>([
    ['a DisruptionLimit', { limits: [limitOf({})] }],
    ['a PodDisruptionBudget', { budgets: [prepareSelector(selectorOf({ app: 'o0' }))] }],
    ['another priority', policyOf({ min: 1 })],
  ])('is none with %s', (_, change) => {
    const found = limitsWith({ ...policyOf(), ...change })(O0);
    expect(found.some((limit) => limit.name === name)).toBe(false);
  });

  test('holds the pods of its owner in a pass, and no others', () => {
    const limitsOf = limitsWith(policyOf(), [byDefault(9), byDefault(8)]);
    const result = passOn({ nodes: NODES, pods: PODS, limitsOf });
    expect(movesOf(result)).toEqual(['p1 a>b', 'p2 a>b']);
    expect(result.stays.find(({ pod }) => pod === 'default/p0')?.because).toMatchObject({
      code: 'LimitReached',
      text: `${name} has 0 disruptions left`,
    });
  });
});

test('a pass moves no pod without room under a DisruptionLimit, says so, and moves others', () => {
  const debits = [debit('x', 9, 'Agent'), debit('y', 9, 'Agent')];
  const limitsOf = limitsWith({ limits: [limitOf({ limits: TWO_AN_HOUR })] }, debits);
  const result = passOn({ nodes: NODES, pods: PODS, limitsOf });
  expect(movesOf(result)).toEqual(['p1 a>b', 'p2 a>b']);
  expect(codeOf(result, 'p0')).toBe('LimitReached');
  expect(movesOf(passOn({ nodes: NODES, pods: PODS }))).toContain('p0 a>b');
});

test('a pass moves no pod that its gang cannot spare, and says so', () => {
  const uids = PODS.filter(({ labels }) => labels.get('app') === 'o0').map(({ uid }) => uid);
  const gang = { key: 'default/train', min: uids.length, running: uids };
  const of = ({ uid }: Pick<Pod, 'uid'>) => (uids.includes(uid) ? gang : undefined);
  const result = passOn({ nodes: NODES, pods: PODS, limitsOf: withGangLimits(() => [], { of }) });
  expect(movesOf(result)).toEqual(['p1 a>b', 'p2 a>b']);
  expect(result.stays.find(({ pod }) => pod === 'default/p0')?.because.text).toBe(
    'gang default/train has 0 disruptions left',
  );
});
