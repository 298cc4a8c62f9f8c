import { describe, expect, test } from 'vitest';
import { sparePodsOf } from '#shared/decide/spare/observe-spare.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { slimKnownPod, slimPod } from '#agent/observe/api-server/node-pods.ts';

const wire = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'app',
    namespace: 'team',
    uid: 'uid-1',
    labels: { app: 'app' },
    annotations: { 'plimsoll.dev/evict': 'last', 'example.com/mark': '' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'set', uid: 'uid-set', controller: true }],
  },
  spec: {
    priority: 7,
    terminationGracePeriodSeconds: 5,
    nodeSelector: { disk: 'ssd' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }],
        },
      },
    },
    containers: [{ name: 'main', resources: { requests: { memory: '16Mi' }, limits: { memory: '32Mi' } } }],
    initContainers: [{ name: 'sidecar', restartPolicy: 'Always', resources: { requests: { memory: '1Mi' } } }],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  },
  status: {
    phase: 'Running',
    qosClass: 'Burstable',
    startTime: '2026-01-01T00:00:00Z',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet' },
    ],
    containerStatuses: [{ name: 'main', containerID: 'containerd://aa11' }, { name: 'waiting' }],
    initContainerStatuses: [
      { name: 'sidecar', containerID: 'containerd://bb22' },
      { name: 'odd', containerID: 'containerd://../../etc' },
    ],
  },
};

describe('slimPod', () => {
  test('knows the cgroup of each container, including sidecars', () => {
    expect(slimPod(wire).observed).toEqual({
      uid: 'uid-1',
      cgroup: { uid: 'uid-1', qos: 'Burstable' },
      isRunning: true,
      containers: [
        { name: 'main', id: 'aa11' },
        { name: 'sidecar', id: 'bb22' },
      ],
    });
  });

  test('keeps what decisions need, and computes the request before it drops the rest', () => {
    const { pod, ...facts } = slimPod(wire).facts;
    expect(facts).toMatchObject({ priority: 7, qos: 'Burstable', isDaemonSetPod: true, hasController: true });
    expect(facts.requests.memory).toMatchObject({ exponent: 0, mantissa: 17 * 1024 * 1024 });
    expect([...pod.annotations]).toEqual([['plimsoll.dev/evict', 'last']]);
    expect(pod.status.conditions.map(({ type }) => type)).toEqual(['DisruptionTarget']);
    expect(pod.spec.containers[0]?.resources.requests?.get('memory')).toBeDefined();
    expect([pod.spec.terminationGracePeriodSeconds, pod.spec.volumes.length]).toEqual([5, 1]);
  });

  test('keeps of annotations, requests, containers and volumes only what evictions read (T-43)', () => {
    const many = (value: string) => Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`a.io/${n}`, value]));
    const prefer = 'descheduler.alpha.kubernetes.io/prefer-no-eviction';
    const annotations = { ...many(''), [prefer]: 'x'.repeat(1_000) };
    const requests = { ...many('1'), memory: '1Mi' };
    const containers = Array.from({ length: 3_000 }, (_, n) => ({ name: `c${n}`, resources: { requests } }));
    const volumes = Array.from({ length: 3_000 }, (_, n) => ({ name: `v${n}`, [n % 2 ? 'emptyDir' : 'nfs']: {} }));
    const metadata = { ...wire.metadata, annotations };
    const { pod, requests: sum } = slimPod({ ...wire, metadata, spec: { containers, volumes } }).facts;
    expect([...pod.annotations]).toEqual([[prefer, '']]);
    expect([...(pod.spec.containers[0]?.resources.requests?.keys() ?? [])]).toEqual(['memory']);
    expect([pod.spec.containers.length, pod.spec.volumes.length]).toEqual([100, 1_000]);
    expect(sum.memory).toMatchObject({ exponent: 0, mantissa: 3_000 * 1024 * 1024 });
  });

  test('keeps what all its containers request of spare room, because the node may never offer less', () => {
    const spare = { memory: '0', 'plimsoll.dev/spare-memory': '1048576', 'plimsoll.dev/spare-cpu': '10' };
    const containers = Array.from({ length: 3_000 }, (_, n) => ({ name: `c${n}`, resources: { requests: spare } }));
    const { facts } = slimPod({ ...wire, spec: { containers, initContainers: containers.slice(0, 1) } });
    const [memory, cpu] = ['plimsoll.dev/spare-memory', 'plimsoll.dev/spare-cpu'];
    const { requested } = sparePodsOf({ running: [facts] });
    expect([facts.isInSpareRoom, requested]).toEqual([true, { memory: 3_000 * 1_048_576, cpu: 30_000 }]);
    const kept = facts.pod.spec.containers.map(({ resources }) => [...(resources.requests?.keys() ?? [])].sort());
    expect([kept.length, kept[0], kept[1]]).toEqual([100, ['memory', cpu, memory], ['memory']]);
  });

  test('keeps a pod with extremely long owner names and quantities', () => {
    const long = 'n'.repeat(5_000);
    const ownerReferences = [{ apiVersion: long, kind: long, name: long, uid: long, controller: true }];
    const containers = [{ name: 'main', resources: { requests: { memory: '9'.repeat(5_000) } } }];
    const { facts, observed } = slimPod({
      ...wire,
      metadata: { ...wire.metadata, ownerReferences },
      spec: { ...wire.spec, containers },
    });
    expect([facts.hasController, observed.uid]).toEqual([true, 'uid-1']);
    expect(facts.pod.owners[0]?.name).toHaveLength(4_096);
  });

  test('drops labels, limits and scheduling rules', () => {
    const { pod } = slimPod(wire).facts;
    expect([pod.labels.size, pod.spec.scheduling.nodeSelector.size, pod.status.containers]).toEqual([0, 0, []]);
    expect(pod.spec.containers[0]?.resources.limits).toBeUndefined();
  });

  const annotations = { 'kubernetes.io/config.mirror': 'abc123', 'kubernetes.io/config.source': 'file' };
  const onNode = { ...wire, spec: { ...wire.spec, nodeName: 'node-a' } };

  test('a static pod is measured in the group that carries the hash of its manifest', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'uid-node', controller: true }];
    const { observed } = slimPod({ ...onNode, metadata: { ...wire.metadata, annotations, ownerReferences } });
    expect(observed.cgroup.uid).toBe('abc123');
  });

  test('any other pod is measured in the group of its own UID, whatever its annotations say', () => {
    const { observed, facts } = slimPod({ ...onNode, metadata: { ...wire.metadata, annotations } });
    expect(observed.cgroup.uid).toBe('uid-1');
    expect(facts.pod.annotations.get('kubernetes.io/config.source')).toBe('file');
  });
});

describe('slimKnownPod', () => {
  const ended = (phase: string, reason = 'Completed'): object => ({
    ...wire,
    status: { ...wire.status, phase, conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] },
  });

  test.each(['Succeeded', 'Failed'])('keeps nothing of a pod in phase %s', (phase) => {
    expect(slimKnownPod(ended(phase) as KubeObject)).toBeUndefined();
  });

  const endedBy = (reason: string, message: string): KubeObject => {
    const pod = ended('Failed', 'TerminationByKubelet') as { readonly status: object };
    return { ...pod, status: { ...pod.status, reason, message } } as unknown as KubeObject;
  };

  test.each(['memory', 'ephemeral-storage', 'inodes', 'pids'])(
    'keeps of a pod that the kubelet evicted only its UID and what was short: %s',
    (resource) => {
      const message = `The node was low on resource: ${resource}. Threshold quantity: 100Mi, available: 90Mi. `;
      expect(slimKnownPod(endedBy('Evicted', message))).toEqual({ kind: 'endedByKubelet', uid: 'uid-1', resource });
    },
  );

  test.each([
    ['when its last container ended', ['2026-01-01T00:00:07Z', '2026-01-01T00:00:05Z'], '2026-01-01T00:00:08Z'],
    ['no time while one has not ended', ['2026-01-01T00:00:07Z', undefined], undefined],
    ['no time that is none', ['soon'], undefined],
    ['no time without containers', [], undefined],
  ])('keeps of a pod that the kubelet evicted %s', (_, finishedAt, expected) => {
    const message = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ';
    const containerStatuses = finishedAt.map((each) => ({ state: { terminated: each && { finishedAt: each } } }));
    const pod = endedBy('Evicted', message) as unknown as { readonly status: object };
    const known = slimKnownPod({ ...pod, status: { ...pod.status, containerStatuses } } as unknown as KubeObject);
    const at = expected === undefined ? {} : { at: Date.parse(expected) };
    expect(known).toEqual({ kind: 'endedByKubelet', uid: 'uid-1', resource: 'memory', ...at });
  });

  test.each([
    ['Preempting', 'Preempted in order to admit critical pod'],
    ['Terminated', 'Pod was terminated in response to imminent node shutdown.'],
    ['Evicted', 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. '],
  ])('keeps nothing of a pod that the kubelet ended for another reason: %s, %s', (reason, message) => {
    expect(slimKnownPod(endedBy(reason, message))).toBeUndefined();
  });

  test.each([
    ['The node was low on resource: memory. Threshold quantity: 1Gi, available: 1Mi. ', 'memory'],
    ['Preempted in order to admit critical pod', undefined],
    ['Pod was terminated in response to imminent node shutdown.', undefined],
  ])('reads by the condition why the kubelet ended a pod whose containers end well: %s', (message, resource) => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message }];
    const known = slimKnownPod({ ...wire, status: { phase: 'Succeeded', conditions } });
    expect(known).toEqual(resource && { kind: 'endedByKubelet', uid: 'uid-1', resource });
  });

  test('keeps of one that cannot be read why', () => {
    expect(slimKnownPod({ ...wire, spec: 'none' })).toEqual({
      kind: 'unreadable',
      message: expect.stringContaining('cannot read pod "app": spec') as string,
    });
  });

  test('keeps what decides of any other', () => {
    expect(slimKnownPod(wire)).toMatchObject({ kind: 'alive', observed: { uid: 'uid-1' } });
  });
});
