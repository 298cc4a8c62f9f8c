import { describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { kubeletRequests } from '#shared/domain/ranking/pod-usage.ts';
import { candidate, pod, usage } from './builders.ts';

describe('kubeletRequests', () => {
  const text = (of: ReturnType<typeof pod>) =>
    Object.fromEntries(Array.from(kubeletRequests(of), ([name, amount]) => [name, formatQuantity(amount)]));

  test('adds overhead only where something is requested', () => {
    const spec = { overhead: { memory: '64Mi', cpu: '250m' } };
    expect(text(pod('p', { requests: { memory: '1Gi', cpu: '0' }, spec: { ...spec, containers: [] } }))).toEqual({});
    const requests = { memory: '1Gi', cpu: '0', 'ephemeral-storage': '1Gi' };
    const containers = [{ name: 'c', resources: { requests } }];
    expect(text(pod('p', { spec: { ...spec, containers } }))).toEqual({
      memory: '1088Mi',
      cpu: '0',
      'ephemeral-storage': '1Gi',
    });
  });

  test('pod-level resources hide those of the containers altogether, even where they name a limit alone', () => {
    const containers = [{ name: 'c', resources: { requests: { memory: '1Gi', 'ephemeral-storage': '1Gi' } } }];
    expect(text(pod('p', { spec: { containers, resources: { requests: { cpu: '1' } } } }))).toEqual({ cpu: '1' });
    expect(text(pod('p', { spec: { containers, resources: { limits: { memory: '2Gi' } } } }))).toEqual({});
  });
});

describe('kubeletRequests of a pod that is resized in place', () => {
  const memoryOf = (spec: object, status: object) => {
    const memory = kubeletRequests(pod('p', { spec, status })).get('memory');
    return memory && formatQuantity(memory);
  };
  const asks = (memory: string) => ({ containers: [{ name: 'c', resources: { requests: { memory } } }] });
  const ofContainer = (status: object, conditions: readonly object[] = []) => ({
    containerStatuses: [{ name: 'c', ...status }],
    conditions,
  });
  const pending = (reason: string) => [{ type: 'PodResizePending', status: 'True', reason }];
  const HELD = { resources: { requests: { memory: '100Mi' } } };

  test.each<[what: string, spec: object, status: object, memory: string | undefined]>([
    ['deferred: what is allocated', asks('4Gi'), ofContainer(HELD, pending('Deferred')), '100Mi'],
    ['infeasible: what is allocated', asks('4Gi'), ofContainer(HELD, pending('Infeasible')), '100Mi'],
    ['not looked at by the kubelet yet: what is allocated', asks('4Gi'), ofContainer(HELD), '100Mi'],
    ['to a smaller request: what is allocated', asks('10Mi'), ofContainer(HELD, pending('Deferred')), '100Mi'],
    [
      'in progress: the allocation, not what the container still holds',
      asks('4Gi'),
      ofContainer({ ...HELD, allocatedResources: { memory: '4Gi' } }),
      '4Gi',
    ],
    [
      'a memory request added by the resize: none',
      asks('4Gi'),
      ofContainer({ resources: { requests: {} } }),
      undefined,
    ],
    ['without a status: the spec', asks('4Gi'), {}, '4Gi'],
    [
      'a sidecar: what is allocated',
      {
        containers: [],
        initContainers: [{ name: 's', restartPolicy: 'Always', resources: { requests: { memory: '4Gi' } } }],
      },
      { initContainerStatuses: [{ name: 's', ...HELD }] },
      '100Mi',
    ],
    [
      'as a whole: what is allocated',
      { ...asks('1Mi'), resources: { requests: { memory: '4Gi' } } },
      { ...HELD, conditions: pending('Deferred') },
      '100Mi',
    ],
  ])('%s', (_, spec, status, memory) => {
    expect(memoryOf(spec, status)).toBe(memory);
  });

  test('only cpu and memory can be resized', () => {
    const requests = { memory: '4Gi', 'ephemeral-storage': '1Gi' };
    const resized = pod('p', { requests, status: ofContainer(HELD) });
    expect([...kubeletRequests(resized).keys()].sort()).toEqual(['ephemeral-storage', 'memory']);
  });
});

describe('rankingFacts', () => {
  test('no stored priority counts as 0', () => {
    expect(rankingFacts(pod('p')).priority).toBe(0);
  });

  test.each([
    [2_147_483_648, 2_147_483_647],
    [2_147_483_647, 2_147_483_647],
    [-2_147_483_648, -2_147_483_648],
    [-2_147_483_649, -2_147_483_648],
  ])('a stored priority of %d counts as %d', (priority, expected) => {
    const stored = pod('p');
    expect(rankingFacts({ ...stored, spec: { ...stored.spec, priority } }).priority).toBe(expected);
  });

  test.each(['v1', 'example.com/v1', 'apps.example.com/v1', 'extensions/v1beta1', ''])(
    'takes no pod for a DaemonSet’s whose controller is of API version "%s"',
    (apiVersion) => {
      const ownerReferences = [{ apiVersion, kind: 'DaemonSet', name: 'set', uid: 'uid', controller: true }];
      expect(rankingFacts(pod('p', { metadata: { ownerReferences } })).isDaemonSetPod).toBe(false);
    },
  );

  test('knows a DaemonSet’s pod by its controller and the node that it is tied to', () => {
    const { isDaemonSetPod, hasController } = rankingFacts(pod('p', { controller: 'DaemonSet' }));
    expect({ isDaemonSetPod, hasController }).toEqual({ isDaemonSetPod: true, hasController: true });
    const untied = pod('p', { controller: 'DaemonSet', spec: { affinity: {} } });
    expect(rankingFacts(untied).isDaemonSetPod).toBe(false);
  });
});

describe('prepareCandidate', () => {
  test('any usage without a request exceeds it, by an infinite share', () => {
    expect(candidate(pod('p'), usage({ memoryBytes: 1 }))).toMatchObject({
      exceedsRequest: true,
      share: Infinity,
      roundedOverage: 1,
    });
  });

  test('no usage exceeds nothing', () => {
    expect(candidate(pod('p'), usage())).toMatchObject({
      usage: 0,
      exceedsRequest: false,
      share: 0,
      roundedOverage: 0,
    });
  });

  test('without statistics there is nothing to compare, whatever is requested', () => {
    const unknown = candidate(pod('p', { requests: { memory: '1Gi' } }), undefined);
    expect(unknown).toMatchObject({ usage: undefined, exceedsRequest: false, share: 0, roundedOverage: 0 });
  });

  test('a usage that is no number is none, a fraction is cut off', () => {
    const measured = [NaN, Infinity, 1.5].map(
      (memoryBytes) => candidate(pod('p'), usage({ memoryBytes })).roundedOverage,
    );
    expect(measured).toEqual([0, 0, 1]);
    expect(candidate(pod('p'), usage({ memoryBytes: NaN })).usage).toBeUndefined();
  });

  test('cpu is held in nanocores', () => {
    const busy = candidate(pod('p', { requests: { cpu: '250m' } }), usage({ cpuNanoCores: 5e8 }), 'cpu.available');
    expect(busy).toMatchObject({ exceedsRequest: true, share: 2, roundedOverage: 250_000_000 });
  });

  test('of inodes any exceeds, and bytes of disk are taken off their number, as Kubernetes does', () => {
    const container = {
      name: 'c',
      workingSetBytes: 0,
      rootfs: { usedBytes: 0, inodesUsed: 5 },
      logs: { usedBytes: 0, inodesUsed: 0 },
    };
    const of = pod('p', { requests: { 'ephemeral-storage': '100' } });
    expect(candidate(of, usage({ containers: [container] }), 'nodefs.inodesFree')).toMatchObject({
      exceedsRequest: true,
      roundedOverage: -95,
    });
  });

  test('a share of a fraction of a byte is a number', () => {
    expect(candidate(pod('p', { requests: { memory: '500m' } }), usage({ memoryBytes: 1 })).share).toBe(2);
  });
});
