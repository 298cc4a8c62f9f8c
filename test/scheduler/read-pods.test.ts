import { describe, expect, test } from 'vitest';
import { type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeMessage, type Field, type WireMessage } from '#shared/kube/protobuf/decode-message.ts';
import { SCHEDULED_POD } from '#shared/kube/protobuf/kube-messages.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { type CompactPod, type PodTemplate, TemplatePool } from '#scheduler/compact-pod.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { encodeMessage } from '#test/build/encode-message.ts';

const term = {
  topologyKey: 'zone',
  labelSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] },
  namespaces: ['x'],
  namespaceSelector: {},
  matchLabelKeys: ['pod-template-hash'],
};
const raw = {
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    uid: 'u1',
    resourceVersion: '7',
    deletionGracePeriodSeconds: 30,
    labels: { app: 'web' },
    annotations: { 'plimsoll.dev/allow-preemption': 'false', 'kubernetes.io/config.mirror': 'hash' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n0', uid: 'n', controller: true }],
  },
  spec: {
    nodeName: 'n0',
    priority: -5,
    priorityClassName: 'low',
    preemptionPolicy: 'Never',
    nodeSelector: { disk: 'ssd' },
    hostNetwork: true,
    containers: [
      {
        name: 'main',
        resources: { requests: { cpu: '250m' }, limits: { memory: '1Gi' } },
        ports: [{ hostPort: 80, protocol: 'TCP', hostIP: '10.0.0.1' }],
      },
    ],
    initContainers: [{ name: 'sidecar', restartPolicy: 'Always', resources: {} }],
    overhead: { cpu: '10m' },
    resources: { requests: { cpu: '1' } },
    tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n0'] }] }],
        },
      },
      podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    },
    schedulingGroup: { podGroupName: 'train' },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {}, minDomains: 2 },
    ],
    volumes: [
      { name: 'cache', emptyDir: {} },
      { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
    ],
    resourceClaims: [{ name: 'gpu' }],
  },
  status: {
    phase: 'Running',
    qosClass: 'Burstable',
    nominatedNodeName: 'n1',
    conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
    containerStatuses: [{ name: 'main', resources: { requests: { cpu: '1' } }, allocatedResources: { cpu: '1' } }],
  },
} as unknown as KubeObject;

class FullPool extends TemplatePool {
  override take(...[{ key }, , makeBare]: Parameters<TemplatePool['take']>): PodTemplate {
    return makeBare(key);
  }
}

/** All that a pod has, whether it is kept or made when it is asked for. */
function fieldsOf(pod: CompactPod): Pod {
  const { namespace, name, uid, labels, annotations, owners, deletion, spec, status } = pod;
  const { generateName, resourceVersion, createdAt, arithmetic } = pod;
  const metadata = { namespace, name, uid, labels, annotations, owners, deletion };
  return { ...metadata, generateName, resourceVersion, createdAt, arithmetic, spec, status };
}

/** As it is written in JSON. */
function wholePod(object: KubeObject) {
  const decoded = decodePod(object);
  if (!decoded.ok) throw new Error(decoded.message);
  return { ...decoded.value, resourceVersion: undefined };
}

describe('createPodReader', () => {
  test('from protocol buffers it reads all that decisions look at', () => {
    const message = encodeMessage('io.k8s.api.core.v1.Pod', raw);
    const decoded = decodeMessage(SCHEDULED_POD, message) as unknown as KubeObject;
    expect(fieldsOf(createPodReader()(decoded))).toEqual(wholePod(raw));
  });

  test('every field that a pod is read from has its number, but what no decision of a scheduler needs', () => {
    const read = new Set<string>();
    expect(decodePod(recorded(raw, [], read)).ok).toBe(true);
    const unnumbered = [...read].filter((path) => !isNumbered(path.split('.'), SCHEDULED_POD));
    expect(unnumbered).toEqual([
      'metadata.generateName',
      'spec.activeDeadlineSeconds',
      'spec.volumes.emptyDir.medium',
      'spec.volumes.emptyDir.sizeLimit',
    ]);
  });

  const TOKEN = { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
  test.each([
    ['local data', [{ name: 'logs', hostPath: { path: '/var/log' } }], ['logs hostPath']],
    ['a claim', [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }], ['data persistentVolumeClaim']],
    ['a driver', [{ name: 'keys', csi: { driver: 'd.test' } }], ['keys ']],
    ['a configuration', [{ name: 'settings', configMap: { name: 'c' } }], []],
  ])('of volumes it keeps what binds the pod, as with %s', (_, volumes, kept) => {
    const spec = { ...(raw['spec'] as object), volumes: [{ name: 'kube-api-access-x', ...TOKEN }, ...volumes] };
    const bytes = encodeMessage('io.k8s.api.core.v1.Pod', { ...raw, spec });
    const pod = createPodReader()(decodeMessage(SCHEDULED_POD, bytes) as unknown as KubeObject);
    expect(pod.spec.volumes.map(({ name, source }) => `${name} ${source}`)).toEqual(kept);
  });

  test('the volume with its own token costs a pod no template of its own', () => {
    const read = createPodReader();
    const [one, two] = ['x', 'y'].map((suffix) => {
      const volumes = [{ name: `kube-api-access-${suffix}`, ...TOKEN }];
      return read({ ...raw, spec: { ...(raw['spec'] as object), volumes } });
    });
    expect(one?.template).toBe(two?.template);
  });

  test('a pod without room for its template keeps what binds it', () => {
    const pod = createPodReader(new FullPool())(raw);
    expect(pod.labels.size).toBe(0);
    expect(pod.spec.volumes.map(({ name }) => name)).toEqual(['cache', 'data']);
    expect(pod.spec.resourceClaims).toEqual(['gpu']);
  });

  test('times are those of the message', () => {
    const time = { seconds: 1_790_000_000 };
    const seconds = Buffer.from([8, ...varint(time.seconds)]);
    const startTime = Buffer.concat([Buffer.from([58, seconds.length]), seconds]);
    const deletion = Buffer.concat([Buffer.from([74, seconds.length]), seconds]);
    const name = Buffer.from([10, 1, 97]);
    const metadata = Buffer.concat([name, deletion]);
    const message = Buffer.concat([
      Buffer.from([10, metadata.length]),
      metadata,
      Buffer.from([26, startTime.length]),
      startTime,
    ]);
    const pod = createPodReader()(decodeMessage(SCHEDULED_POD, message) as unknown as KubeObject);
    expect([pod.status.startTime, pod.deletion?.at]).toEqual([1_790_000_000_000, 1_790_000_000_000]);
  });

  test('what is equal in two pods is kept once', () => {
    const read = createPodReader();
    const [one, two] = ['web-1', 'web-2'].map((name) => {
      const copy = structuredClone(raw);
      return read({ ...copy, metadata: { ...copy.metadata, name } });
    }) as readonly Pod[] as [Pod, Pod];
    expect(one.name).not.toBe(two.name);
    expect(one.labels).toBe(two.labels);
    expect(one.owners).toBe(two.owners);
    expect(one.spec.containers).toBe(two.spec.containers);
    expect(one.status.conditions).toBe(two.status.conditions);
  });

  test('the rule that gave the class is kept once for the pods of an owner, also beside annotations of one of them', () => {
    const read = createPodReader();
    const record = { 'plimsoll.dev/class-rule': 'tenants/jobs' };
    const pods = [{}, {}, { 'plimsoll.dev/evict': 'never' }].map((own, index) => {
      const metadata = { ...raw.metadata, name: `web-${index}`, annotations: { ...record, ...own, other: 'x' } };
      return read({ ...structuredClone(raw), metadata });
    });
    expect(pods.map(({ annotations }) => Object.fromEntries(annotations))).toEqual([
      record,
      record,
      { ...record, 'plimsoll.dev/evict': 'never' },
    ]);
    expect(pods[0]?.annotations).toBe(pods[1]?.annotations);
    expect(pods[0]?.template).toBe(pods[2]?.template);
  });

  test('the anti-affinity of two pods of one owner is prepared once, in each namespace', () => {
    const read = createPodReader();
    const pods = ['shop', 'shop', 'other'].map((namespace, index) => {
      const copy = structuredClone(raw);
      return read({ ...copy, metadata: { ...copy.metadata, namespace, name: `web-${index}`, uid: `u${index}` } });
    });
    const { placedPods } = createSnapshot({ nodes: [], pods });
    const [one, two, elsewhere] = Array.from(placedPods.values(), ({ antiAffinity }) => antiAffinity);
    expect(one).toHaveLength(1);
    expect(one).toBe(two);
    expect(one).not.toBe(elsewhere);
  });

  test('two pods of one owner keep their own node and times', () => {
    const read = createPodReader();
    const pods = ['n1', 'n2'].map((nodeName, index) => {
      const { metadata, spec, status } = structuredClone(raw) as KubeObject & Record<string, object>;
      const startTime = `2026-01-0${index + 1}T00:00:00Z`;
      const own = { spec: { ...spec, nodeName }, status: { ...status, startTime, nominatedNodeName: nodeName } };
      return read({ metadata, ...own });
    });
    for (const turn of [pods, pods.toReversed()]) {
      expect(turn.map(({ spec }) => spec.nodeName)).toEqual(turn === pods ? ['n1', 'n2'] : ['n2', 'n1']);
    }
    const seen = pods.map(({ status }) => [status.startTime, status.nominatedNodeName]);
    expect(seen).toEqual([
      [Date.UTC(2026, 0, 1), 'n1'],
      [Date.UTC(2026, 0, 2), 'n2'],
    ]);
  });

  test('annotations that no decision reads are left out', () => {
    const annotations = { 'cni.test/address': '10.0.0.7' };
    const pod = createPodReader()({ ...raw, metadata: { ...raw.metadata, annotations } });
    expect(pod.annotations).toEqual(new Map());
  });

  test('of an annotation that a tenant writes no more is kept than a value can have', () => {
    const annotations = { 'plimsoll.dev/allow-preemption': 'x'.repeat(200_000) };
    const pod = createPodReader()({ ...raw, metadata: { ...raw.metadata, annotations } });
    expect(pod.annotations.get('plimsoll.dev/allow-preemption')).toHaveLength(64);
  });

  test('equal pods of two owners keep their own owner', () => {
    const read = createPodReader();
    const pods = ['web', 'api'].map((name) => {
      const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true }];
      return read({ ...raw, metadata: { ...raw.metadata, ownerReferences } });
    });
    expect(pods.map(ownerOf)).toEqual(['shop/ReplicaSet/web', 'shop/ReplicaSet/api']);
  });

  test('a pod that cannot be read throws with the field', () => {
    const broken = { ...raw, spec: { containers: [{ name: 7 }] } };
    expect(() => createPodReader()(broken)).toThrow('spec.containers[0].name: expected a text, got 7');
  });
});

/** The value, whose fields are noted when they are read. */
function recorded(value: unknown, path: readonly string[], read: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get: (target, key): unknown => {
      const inner: unknown = Reflect.get(target, key);
      if (typeof key === 'symbol' || Array.isArray(target)) return recorded(inner, path, read);
      read.add([...path, key].join('.'));
      return recorded(inner, [...path, key], read);
    },
  });
}

function isNumbered([name, ...inner]: readonly string[], message: WireMessage): boolean {
  if (name === undefined) return true;
  const fields = [...message.values()];
  const field = fields.find((each) => each.name === name);
  if (field === undefined) return fields.some(({ type, many }) => many === 'inline' && isIn(type, [name, ...inner]));
  return field.many === 'map' || isIn(field.type, inner);
}

function isIn(type: Field['type'], path: readonly string[]): boolean {
  return typeof type === 'string' || isNumbered(path, type);
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
}
