import { groupPod } from '#test/agent/agent-process.ts';
import type { StoredObject } from '#test/fakes/stored-objects.ts';

const CONTAINERS = ['main', 'proxy', 'logs'];
const CONDITIONS = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
const SINCE = '2026-01-01T00:00:00Z';

/** A pod as the API server tells it of an everyday application: three containers, 8 KB of JSON, most of it of no use here. */
export function everydayPod(uid: string, priority: number): StoredObject {
  const { metadata, spec, status, ...kind } = groupPod(uid, priority);
  return {
    ...kind,
    metadata: {
      ...metadata,
      labels: entries(8, (index) => [`example.com/label-${index}`, `${uid}-value-${index}`]),
      annotations: {
        'example.com/checksum': `${uid}${'f'.repeat(64)}`,
        'example.com/last': `${uid}${'x'.repeat(1500)}`,
      },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `set-${uid}`, uid: `set-${uid}`, controller: true },
      ],
      managedFields: [{ manager: 'kubelet', fieldsV1: entries(60, (index) => [`f:field-${index}`, {}]) }],
    },
    spec: {
      ...Object(spec),
      containers: CONTAINERS.map(containerOf),
      tolerations: ['not-ready', 'unreachable'].map((key) => ({ key, operator: 'Exists', effect: 'NoExecute' })),
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'token', projected: { sources: [] } },
      ],
    },
    status: {
      ...Object(status),
      conditions: CONDITIONS.map((type) => ({ type, status: 'True', lastTransitionTime: SINCE })),
      containerStatuses: CONTAINERS.map((name) => statusOf(name, uid)),
    },
  };
}

/** The same after its containers have ended well. */
export function endedPod(uid: string): StoredObject {
  const { status, ...pod } = everydayPod(uid, 0);
  return { ...pod, status: { ...Object(status), phase: 'Succeeded' } };
}

function containerOf(name: string): object {
  return {
    name,
    image: `registry.example.com/team/${name}:1`,
    env: Array.from({ length: 20 }, (_, index) => ({ name: `NAME_${index}`, value: 'v'.repeat(30) })),
    ports: [{ containerPort: 8080, protocol: 'TCP' }],
    resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  };
}

function statusOf(name: string, uid: string): object {
  const containerID = `containerd://${name}-${uid}-${'a'.repeat(40)}`;
  return { name, containerID, ready: true, restartCount: 0, state: { running: { startedAt: SINCE } } };
}

function entries(count: number, entry: (index: number) => readonly [string, unknown]): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => entry(index)));
}
