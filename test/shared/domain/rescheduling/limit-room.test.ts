import { describe, expect, test } from 'vitest';
import type { Debit } from '#shared/domain/disruption/account.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import type { Component } from '#shared/domain/disruption/limit-rule.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { rateLimitOf } from '#shared/domain/rescheduling/limit-room.ts';
import { buildNode, selectorOf } from '#test/build/cluster.ts';
import { codeOf, movesOf, NOON, passOn, replica } from '#test/build/rescheduling.ts';

const HOUR_MS = 3_600_000;
const PODS = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 3}` }));
const TWO_AN_HOUR = [{ max: { value: 2, isPercent: false }, windowMs: HOUR_MS }];

function limitOf(changes: Partial<DisruptionLimit>): DisruptionLimit {
  const selector = prepareSelector(selectorOf({ app: 'o0' }));
  const rules = { limits: [], minAvailable: undefined, shares: new Map<Component, number>() };
  return { namespace: 'default', name: 'web', selector, ...rules, ...changes };
}

function debit(uid: string, minutesAgo: number, component: Component): Debit {
  const at = NOON - minutesAgo * 60_000;
  const nothing = { cause: undefined, caller: undefined, overran: undefined };
  return { uid, pod: uid, at, component, rules: ['limit/web'], lapsesAt: at + HOUR_MS, ...nothing };
}

const roomOf = (changes: Partial<DisruptionLimit>, account: readonly Debit[] = []) =>
  rateLimitOf(limitOf(changes), () => ({ pods: PODS, account, now: NOON }));

describe('rateLimitOf', () => {
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
    expect(roomOf(changes, account).left).toBe(left);
  });

  test('covers the pods of its namespace that it selects', () => {
    const { covers } = roomOf({});
    const [o0, o1] = PODS;
    expect([o0, o1, o0 && { ...o0, namespace: 'other' }].map((pod) => pod && covers(pod))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

test('a pass moves no pod without room under a DisruptionLimit, says so, and moves others', () => {
  const nodes = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
  const limits = [roomOf({ limits: TWO_AN_HOUR }, [debit('x', 9, 'Agent'), debit('y', 9, 'Agent')])];
  const result = passOn({ nodes, pods: PODS, limits });
  expect(movesOf(result)).toEqual(['p1 a>b', 'p2 a>b']);
  expect(codeOf(result, 'p0')).toBe('LimitReached');
  expect(movesOf(passOn({ nodes, pods: PODS }))).toContain('p0 a>b');
});
