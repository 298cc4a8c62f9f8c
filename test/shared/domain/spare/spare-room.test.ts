import { describe, expect, test } from 'vitest';
import { podLimits, podRequests, qosClass } from '#shared/domain/pod/pod-requests.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { inSpareRoom, moveToSpareRoom, requestsNodeRoom, usesSpareRoom } from '#shared/domain/spare/spare-room.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { valueOf } from '#test/build/value-of.ts';

type Resources = Readonly<Record<string, Readonly<Record<string, string>>>>;

function podOf(containers: readonly Resources[], more: object = {}) {
  const named = containers.map((resources, index) => ({ name: `c${index}`, image: 'i', resources }));
  return valueOf(
    decodePod({ metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec: { containers: named, ...more } }),
  );
}

function texts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)] as const));
}

function movedOf(pod: ReturnType<typeof podOf>) {
  const move = moveToSpareRoom(pod);
  if (move === undefined) throw new Error('it is not moved');
  return { move, pod: inSpareRoom(pod, move) };
}

describe('the requests of a pod in spare room', () => {
  test.each([
    ['whole CPUs and bytes', { cpu: '2', memory: '1Gi' }, { cpu: '2000', memory: '1073741824' }],
    ['thousandths', { cpu: '250m', memory: '1500M' }, { cpu: '250', memory: '1500000000' }],
    ['fractions of a byte, rounded up', { cpu: '1m', memory: '1500m' }, { cpu: '1', memory: '2' }],
    ['an exponent', { cpu: '0.1', memory: '1e9' }, { cpu: '100', memory: '1000000000' }],
    ['memory alone', { memory: '1Ki' }, { memory: '1024' }],
  ])('are %s', (_, requests, { cpu, memory }: { cpu?: string; memory?: string }) => {
    const { pod } = movedOf(podOf([{ requests }]));
    const wanted = {
      ...(cpu !== undefined && { 'plimsoll.dev/spare-cpu': Number(cpu) }),
      ...(memory !== undefined && { 'plimsoll.dev/spare-memory': Number(memory) }),
    };
    const numbers = (amounts: Amounts) =>
      Object.fromEntries(
        [...amounts].map(([name, { mantissa, exponent }]) => [name, Number(mantissa) * 10 ** exponent]),
      );
    expect(numbers(podRequests(pod))).toEqual({ cpu: 0, memory: 0, ...wanted });
    expect(numbers(podLimits(pod))).toEqual(wanted);
  });

  test('leave limits and other resources as they are, and make the pod BestEffort without limits', () => {
    const gpu = { 'nvidia.com/gpu': '1' };
    const bare = movedOf(podOf([{ requests: { cpu: '1', ...gpu }, limits: gpu }])).pod;
    const limited = movedOf(podOf([{ requests: { cpu: '1' }, limits: { cpu: '2', memory: '1Gi' } }])).pod;
    expect(texts(podRequests(bare))).toEqual({ cpu: '0', memory: '0', ...gpu, 'plimsoll.dev/spare-cpu': '1k' });
    expect(qosClass(bare)).toBe('BestEffort');
    expect(texts(podLimits(limited))).toEqual({ cpu: '2', memory: '1Gi', 'plimsoll.dev/spare-cpu': '1k' });
    expect(qosClass(limited)).toBe('Burstable');
  });

  test('are those of each container, of init containers and sidecars too, as the scheduler adds them up', () => {
    const initContainers = [
      { name: 'first', image: 'i', resources: { requests: { memory: '4Gi' } } },
      { name: 'side', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
    ];
    const before = podOf([{ requests: { cpu: '1', memory: '1Gi' } }, {}], { initContainers });
    const { pod, move } = movedOf(before);
    expect(texts(podRequests(pod))).toEqual({
      cpu: '0',
      memory: '0',
      'plimsoll.dev/spare-cpu': '1100',
      'plimsoll.dev/spare-memory': '4294967296',
    });
    expect(
      [...pod.spec.containers, ...pod.spec.initContainers].map(({ resources }) =>
        texts(resources.requests ?? new Map()),
      ),
    ).toEqual(expect.arrayContaining([{ cpu: '0', memory: '0' }]));
    expect(JSON.parse(move.requested)).toEqual({
      c0: { cpu: '1', memory: '1Gi' },
      first: { memory: '4Gi' },
      side: { cpu: '100m' },
    });
  });

  test('of a pod as a whole become those of its first container, in place of what containers request', () => {
    const resources = { requests: { cpu: '3' }, limits: { cpu: '4' } };
    const before = podOf([{ requests: { cpu: '1', memory: '1Gi' } }, { requests: { cpu: '1' } }], { resources });
    const { pod, move } = movedOf(before);
    expect(texts(podRequests(pod))).toEqual({
      cpu: '0',
      memory: '0',
      'plimsoll.dev/spare-cpu': '3k',
      'plimsoll.dev/spare-memory': '1073741824',
    });
    expect(texts(pod.spec.resources?.limits ?? new Map())).toEqual({ cpu: '4' });
    expect(JSON.parse(move.requested)).toMatchObject({ '*': { cpu: '3' } });
  });

  test('keep the overhead, which the RuntimeClass fixes', () => {
    const { pod } = movedOf(podOf([{ requests: { cpu: '1' } }], { overhead: { cpu: '100m', memory: '50Mi' } }));
    expect(texts(podRequests(pod))).toMatchObject({ cpu: '100m', memory: '50Mi', 'plimsoll.dev/spare-cpu': '1k' });
  });
});

describe('a pod is not moved', () => {
  test.each([
    ['that requests nothing', podOf([{}])],
    ['that requests nothing but other resources', podOf([{ requests: { 'nvidia.com/gpu': '1' } }])],
    ['that requests zero', podOf([{ requests: { cpu: '0', memory: '0' }, limits: { memory: '1Gi' } }])],
    ['that names spare room', podOf([{ requests: { cpu: '1', 'plimsoll.dev/spare-cpu': '1' } }])],
    [
      'that names spare room as a limit only',
      podOf([{ requests: { cpu: '1' } }, { limits: { 'plimsoll.dev/spare-memory': '0' } }]),
    ],
  ])('%s', (_, pod) => {
    expect(moveToSpareRoom(pod)).toBeUndefined();
  });

  test('twice', () => {
    const { pod } = movedOf(podOf([{ requests: { cpu: '1' } }], { resources: { requests: { memory: '1Gi' } } }));
    expect(moveToSpareRoom(pod)).toBeUndefined();
    expect([usesSpareRoom(pod), requestsNodeRoom(pod)]).toEqual([true, false]);
  });
});
