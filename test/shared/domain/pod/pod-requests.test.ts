import { describe, expect, test } from 'vitest';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  hasPodLevelResources,
  podLimits,
  podRequests,
  QUOTA_VIEW,
  SCHEDULER_VIEW,
} from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { required } from '#test/conformance/required.ts';

type Texts = Readonly<Record<string, string>>;

function podOf(spec: object, status: object = {}): Pod {
  return required(decodePod({ metadata: { name: 'web' }, spec, status }));
}

function container(requests: Texts, limits: Texts = {}) {
  return { name: 'app', resources: { requests, limits } };
}

function sidecar(cpu: string) {
  return { ...container({ cpu }, { cpu }), restartPolicy: 'Always' };
}

function texts(amounts: Amounts): Texts {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

describe('containers, init containers and sidecars', () => {
  test.each([
    ['containers add up', { containers: [container({ cpu: '1' }), container({ cpu: '2' })] }, '3'],
    [
      'the largest init container counts if it asks for more',
      { containers: [container({ cpu: '1' })], initContainers: [container({ cpu: '4' }), container({ cpu: '2' })] },
      '4',
    ],
    [
      'a sidecar runs next to the containers',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar('2')] },
      '3',
    ],
    [
      'and next to the init containers after it',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar('2'), container({ cpu: '4' })] },
      '6',
    ],
    [
      'not next to those before it',
      { containers: [container({ cpu: '1' })], initContainers: [container({ cpu: '4' }), sidecar('2')] },
      '4',
    ],
    ['one amount keeps its spelling', { containers: [container({ cpu: '0100m' })] }, '0100m'],
  ])('%s', (_, spec, cpu) => {
    expect(texts(podRequests(podOf(spec)))).toEqual({ cpu });
  });
});

describe('overhead', () => {
  const pod = podOf({
    containers: [container({ cpu: '1' }, { cpu: '2', memory: '0' })],
    overhead: { cpu: '1', memory: '1Mi' },
  });

  test('is added to requests, also of what was not requested', () => {
    expect(texts(podRequests(pod))).toEqual({ cpu: '2', memory: '1Mi' });
  });

  test('is added to limits only where there is one', () => {
    expect(texts(podLimits(pod))).toEqual({ cpu: '3', memory: '0' });
  });

  test('can be left out', () => {
    expect(texts(podRequests(pod, { excludeOverhead: true }))).toEqual({ cpu: '1' });
    expect(texts(podLimits(pod, { excludeOverhead: true }))).toEqual({ cpu: '2', memory: '0' });
  });
});

describe('pod-level resources', () => {
  const containers = [container({ cpu: '1', 'example.com/a': '1' }, { cpu: '1' })];
  const resources = { requests: { cpu: '5', 'example.com/a': '9' }, limits: { cpu: '6', 'hugepages-2Mi': '4Mi' } };
  const pod = podOf({ containers, resources });

  test('replace those of the containers, for cpu, memory and hugepages only', () => {
    expect(texts(podRequests(pod))).toEqual({ cpu: '5', 'example.com/a': '1' });
    expect(texts(podLimits(pod))).toEqual({ cpu: '6', 'hugepages-2Mi': '4Mi' });
  });

  test('can be left out', () => {
    expect(texts(podRequests(pod, { skipPodLevel: true }))).toEqual({ cpu: '1', 'example.com/a': '1' });
    expect(texts(podLimits(pod, { skipPodLevel: true }))).toEqual({ cpu: '1' });
  });

  test.each([
    ['requests of cpu', { requests: { cpu: '1' } }, true],
    ['limits of hugepages', { limits: { 'hugepages-1Gi': '1Gi' } }, true],
    ['nothing in them', {}, false],
    ['only what is not counted at pod level', { requests: { 'example.com/a': '1' } }, false],
  ])('%s: whether they are set', (_, stated, isSet) => {
    expect(hasPodLevelResources(podOf({ containers, resources: stated }))).toBe(isSet);
    expect(hasPodLevelResources(podOf({ containers }))).toBe(false);
  });
});

describe('a resize in progress', () => {
  const spec = { containers: [container({ cpu: '2' }, { cpu: '3' })] };
  const infeasible = [{ type: 'PodResizePending', reason: 'Infeasible' }];

  /** The effective cpu request and limit with this status of the container. */
  function resized(
    containerStatus: object,
    conditions: readonly object[] = [],
    resized: object = spec,
  ): readonly unknown[] {
    const pod = podOf(resized, { containerStatuses: [{ name: 'app', ...containerStatus }], conditions });
    return [texts(podRequests(pod, QUOTA_VIEW))['cpu'], texts(podLimits(pod, QUOTA_VIEW))['cpu']];
  }

  test.each([
    [
      'what the container has counts if it is more',
      { resources: { requests: { cpu: '4' }, limits: { cpu: '5' } } },
      [],
      ['4', '5'],
    ],
    ['what it was allocated too', { resources: {}, allocatedResources: { cpu: '6' } }, [], ['6', '3']],
    ['an allocation alone does not', { allocatedResources: { cpu: '6' } }, [], ['2', '3']],
    ['if it is infeasible the spec does not', { resources: { requests: { cpu: '1' } } }, infeasible, ['1', undefined]],
    [
      'infeasible with nothing in the status',
      { resources: {}, allocatedResources: { cpu: '1' } },
      infeasible,
      ['1', undefined],
    ],
    [
      'only the first condition is read',
      { resources: { requests: { cpu: '1' } } },
      [{ type: 'PodResizePending', reason: 'Deferred' }, ...infeasible],
      ['2', '3'],
    ],
  ])('%s', (_, status, conditions, expected) => {
    expect(resized(status, conditions)).toEqual(expected);
  });

  test('an init container does not take part, a sidecar does', () => {
    const status = { resources: { requests: { cpu: '9' }, limits: { cpu: '9' } } };
    expect(resized(status, [], { initContainers: [container({ cpu: '2' }, { cpu: '3' })] })).toEqual(['2', '3']);
    expect(resized(status, [], { initContainers: [sidecar('2')] })).toEqual(['9', '9']);
  });

  test('of the whole pod the scheduler counts it, quota does not', () => {
    const status = { resources: { requests: { cpu: '7' }, limits: { cpu: '8' } }, allocatedResources: { cpu: '1' } };
    const pod = podOf({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }, status);
    expect([podRequests(pod, SCHEDULER_VIEW), podLimits(pod, SCHEDULER_VIEW)].map(texts)).toEqual([
      { cpu: '7' },
      { cpu: '8' },
    ]);
    expect([podRequests(pod, QUOTA_VIEW), podLimits(pod, QUOTA_VIEW)].map(texts)).toEqual([{ cpu: '2' }, { cpu: '2' }]);
  });

  test('of the whole pod, infeasible, leaves zero for what the status lacks', () => {
    const resources = { requests: { cpu: '2' }, limits: { cpu: '2' } };
    const known = podOf({ resources }, { resources: { limits: {} }, conditions: infeasible });
    expect([podRequests(known, SCHEDULER_VIEW), podLimits(known, SCHEDULER_VIEW)].map(texts)).toEqual([
      { cpu: '0' },
      { cpu: '0' },
    ]);
    const unknown = podOf({ resources }, { resources: {}, conditions: infeasible });
    expect(texts(podLimits(unknown, SCHEDULER_VIEW))).toEqual({ cpu: '2' });
  });
});
