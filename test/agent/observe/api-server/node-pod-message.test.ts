import { describe, expect, test } from 'vitest';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { NODE_POD } from '#shared/kube/protobuf/node-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { slimKnownPod } from '#agent/observe/api-server/node-pods.ts';
import { encodeMessage } from '#test/build/encode-message.ts';

const SPEC = {
  nodeName: 'n1',
  priority: -7,
  priorityClassName: 'batch',
  terminationGracePeriodSeconds: 5,
  overhead: { memory: '8Mi' },
  resources: { requests: { memory: '1Gi' } },
  containers: [
    { name: 'main', resources: { requests: { memory: '16Mi' }, limits: { memory: '32Mi' } }, env: [{ name: 'A' }] },
  ],
  initContainers: [{ name: 'sidecar', restartPolicy: 'Always', resources: { requests: { memory: '1Mi' } } }],
  volumes: [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'host', hostPath: { path: '/data' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'secret', secret: { secretName: 'secret' } },
  ],
};
const METADATA = {
  name: 'app',
  namespace: 'team',
  uid: 'uid-1',
  resourceVersion: '7',
  deletionGracePeriodSeconds: 30,
  annotations: { 'plimsoll.dev/evict': 'last', 'kubernetes.io/config.mirror': 'hash' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-n1', controller: true }],
};
const RUNNING = {
  phase: 'Running',
  qosClass: 'Burstable',
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'evicted' },
  ],
  containerStatuses: [
    { name: 'main', containerID: 'containerd://aa11', resources: { requests: { memory: '64Mi' } } },
    { name: 'waiting' },
  ],
  initContainerStatuses: [{ name: 'sidecar', containerID: 'containerd://bb22', allocatedResources: { memory: '2Mi' } }],
};
const LOW = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 1Ki. ';
const PODS: Readonly<Record<string, object>> = {
  'that runs, is a static one and was resized': { metadata: METADATA, spec: SPEC, status: RUNNING },
  'of a pod-level resize': {
    metadata: METADATA,
    spec: SPEC,
    status: { ...RUNNING, resources: { requests: { memory: '2Gi' } }, allocatedResources: { memory: '2Gi' } },
  },
  'that the kubelet evicted': {
    metadata: METADATA,
    spec: SPEC,
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: LOW,
      containerStatuses: [{ name: 'main', state: { terminated: { finishedAt: '2026-01-01T00:00:30Z' } } }],
    },
  },
  'that the kubelet evicted and that has succeeded': {
    metadata: METADATA,
    spec: SPEC,
    status: {
      phase: 'Succeeded',
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'TerminationByKubelet', message: LOW }],
    },
  },
  'whose request is no amount': {
    metadata: METADATA,
    spec: { containers: [{ name: 'main', resources: { requests: { memory: 'much' } } }] },
    status: RUNNING,
  },
};

describe('NODE_POD', () => {
  test.each(Object.entries(PODS))(
    'in protocol buffers the agent reads the same of a pod %s as in JSON',
    (_name, raw) => {
      const message = encodeMessage('io.k8s.api.core.v1.Pod', raw as Readonly<Record<string, unknown>>);
      const decoded = decodeMessage(NODE_POD, message) as unknown as KubeObject;
      expect(slimKnownPod(decoded)).toEqual(slimKnownPod(raw as KubeObject));
    },
  );

  test('what a tenant may fill is not in it: environment, commands, managed fields', () => {
    const text = 'x'.repeat(1000);
    const containers = [
      { name: 'main', image: 'app', command: [text], args: [text], env: [{ name: 'A', value: text }] },
    ];
    const message = encodeMessage('io.k8s.api.core.v1.Pod', { metadata: { name: 'app' }, spec: { containers } });
    const decoded = JSON.stringify(decodeMessage(NODE_POD, message));
    expect([message.length > 3000, decoded]).toEqual([
      true,
      JSON.stringify({ metadata: { name: 'app' }, spec: { containers: [{ name: 'main' }] } }),
    ]);
  });
});

test.each<[string, object, object, boolean]>([
  ['by labels', { labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '8' } }, {}, true],
  [
    "by Kueue's annotation",
    {
      labels: { 'kueue.x-k8s.io/pod-group-name': 'train' },
      annotations: { 'kueue.x-k8s.io/pod-group-total-count': '8' },
    },
    {},
    true,
  ],
  ['by a PodGroup', {}, { schedulingGroup: { podGroupName: 'train' } }, true],
  ['without a size', { labels: { 'plimsoll.dev/gang': 'train' } }, {}, false],
  ['in no way', { labels: { app: 'train' } }, {}, false],
])('a pod that names a gang %s', (_, metadata, spec, expected) => {
  const pod = { metadata: { ...METADATA, ...metadata }, spec: { ...SPEC, ...spec }, status: RUNNING };
  const decoded = decodeMessage(NODE_POD, encodeMessage('io.k8s.api.core.v1.Pod', pod)) as unknown as KubeObject;
  const known = slimKnownPod(decoded);
  expect(known?.kind === 'alive' && known.facts.isOfGang === true).toBe(expected);
});
