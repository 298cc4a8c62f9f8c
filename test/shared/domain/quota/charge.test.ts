import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addAmounts, areAllZero, subtractAmounts, compareQuantities, ZERO } from '#shared/domain/quantity/quantity.ts';
import { charge, chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import { readVectors } from '#test/conformance/read-vectors.ts';
import { required } from '#test/conformance/required.ts';
import { type PodWish, pod } from '#test/shared/domain/ranking/builders.ts';
import { NOW } from './builders.ts';

const DELETED = '2026-03-01T11:59:30Z';

describe('charge', () => {
  test('names what a pod asks for in every way that quotas know', () => {
    const resources = {
      requests: { cpu: '100m', memory: '1Gi', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' },
      limits: { cpu: '200m', memory: '2Gi', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' },
    };
    const charged = charge(pod('p', { spec: { containers: [{ name: 'c', resources }] } }), NOW);
    expect(printAmounts(charged)).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '100m',
      'requests.cpu': '100m',
      'limits.cpu': '200m',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'limits.memory': '2Gi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '1',
    });
  });

  test.each<[string, PodWish, boolean]>([
    ['a running pod is charged', { status: { phase: 'Running' } }, true],
    ['so is a pod without a phase', {}, true],
    ['a pod that failed costs only its place in storage', { status: { phase: 'Failed' } }, false],
    ['so does a pod that succeeded', { status: { phase: 'Succeeded' } }, false],
    [
      'so does a pod whose deletion is overdue',
      { metadata: { deletionTimestamp: DELETED, deletionGracePeriodSeconds: 29 } },
      false,
    ],
    [
      'so does one whose long deletion is overdue by a second',
      { metadata: { deletionTimestamp: '2026-03-01T11:00:00Z', deletionGracePeriodSeconds: 3_599 } },
      false,
    ],
    [
      'a pod whose deletion is due now is charged',
      { metadata: { deletionTimestamp: DELETED, deletionGracePeriodSeconds: 30 } },
      true,
    ],
    ['so is one to be deleted without a grace period', { metadata: { deletionTimestamp: DELETED } }, true],
  ])('%s', (_, wish, isCharged) => {
    const charged = printAmounts(charge(pod('p', { requests: { cpu: '1' }, ...wish }), NOW));
    const live = { 'count/pods': '1', pods: '1', cpu: '1', 'requests.cpu': '1' };
    expect(charged).toEqual(isCharged ? live : { 'count/pods': '1' });
  });

  test('a negative request makes a negative charge', () => {
    expect(printAmounts(charge(pod('p', { requests: { cpu: '-1' } }), NOW))).toMatchObject({ cpu: '-1' });
  });

  test('charging any two recorded pods and releasing them in any order leaves nothing', () => {
    const charges = readVectors('podusage').map((vector) => charge(required(decodePod(vector['pod'])), NOW));
    fc.assert(
      fc.property(fc.constantFrom(...charges), fc.constantFrom(...charges), (one, other) => {
        const both = addAmounts(one, other);
        expect(areAllZero(subtractAmounts(subtractAmounts(both, one), other))).toBe(true);
        expect(areAllZero(subtractAmounts(subtractAmounts(both, other), one))).toBe(true);
      }),
    );
  });
});

describe('chargeToPriorityQuota', () => {
  const resized = (reason: string): PodWish => ({
    requests: { memory: '4Gi' },
    status: {
      conditions: [{ type: 'PodResizePending', status: 'True', reason }],
      containerStatuses: [{ name: 'c', resources: { requests: { memory: '1Gi' } }, allocatedResources: {} }],
    },
  });

  test.each(['Infeasible', 'Deferred'])('counts the spec of a resize that is %s', (reason) => {
    const charged = printAmounts(chargeToPriorityQuota(pod('p', resized(reason))));
    expect(charged).toMatchObject({ 'requests.memory': '4Gi' });
  });

  test('counts no amount below zero, which a node may write into the status', () => {
    const resources = { requests: { memory: '-4Gi' }, limits: { cpu: '-1' } };
    const status = { containerStatuses: [{ name: 'c', resources, allocatedResources: { memory: '-1' } }] };
    const charged = printAmounts(chargeToPriorityQuota(pod('p', { status })));
    expect(charged).toMatchObject({ 'requests.memory': '0', memory: '0' });
    expect(Object.values(charged).filter((amount) => amount.startsWith('-'))).toEqual([]);
  });

  test('counts a pod whose deletion is overdue until it is gone', () => {
    const metadata = { deletionTimestamp: DELETED, deletionGracePeriodSeconds: 1 };
    const charged = printAmounts(chargeToPriorityQuota(pod('p', { requests: { cpu: '1' }, metadata })));
    expect(charged).toMatchObject({ pods: '1', cpu: '1' });
  });

  test.each<[string, PodWish, Readonly<Record<string, string>>]>([
    [
      'counts what a container does not state',
      { requests: { cpu: '1', memory: '1' }, status: { phase: 'Running' } },
      { 'unstated/limits.cpu': '1', 'unstated/limits.memory': '1' },
    ],
    ['counts nothing unstated of a pod that has ended', { status: { phase: 'Succeeded' } }, {}],
  ])('%s', (_, wish, unstated) => {
    const charged = printAmounts(chargeToPriorityQuota(pod('p', wish)));
    expect(Object.fromEntries(Object.entries(charged).filter(([name]) => name.startsWith('unstated/')))).toEqual(
      unstated,
    );
  });

  test('is never less than what a ResourceQuota would be charged', () => {
    const pods = readVectors('podusage').map((vector) => required(decodePod(vector['pod'])));
    const cheaper = pods.filter((each) => {
      const cost = chargeToPriorityQuota(each);
      return [...charge(each, NOW)].some(([name, amount]) => compareQuantities(cost.get(name) ?? ZERO, amount) < 0);
    });
    expect([pods.length > 100, cheaper]).toEqual([true, []]);
  });
});
