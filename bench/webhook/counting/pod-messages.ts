import type { KubeObject } from '#shared/kube/kube-object.ts';
import { bytesField, encodeMessage } from '#test/build/encode-message.ts';

/** How many namespaces the pods are in, and how many quotas count them. */
export const TEAMS = 1_000;
export const QUOTAS = 10;
const POD = 'io.k8s.api.core.v1.Pod';
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const NO_POD = { metadata: Buffer.alloc(0), rest: Buffer.alloc(0) };

/** Names and revision of a pod; the revision is that of the first list. */
export function namesOf(index: number) {
  return {
    name: `web-${index.toString(36).padStart(5, '0')}`,
    namespace: `team-${index % TEAMS}`,
    uid: `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
    resourceVersion: String(index + 1),
  };
}

/** A pod of about 4 KB of JSON, or 3 KB on the wire. */
export function rawPod(index: number): KubeObject {
  const container = (name: string): object => ({
    name,
    image: `registry.test/team/${name}:v1.${index % 40}.0`,
    resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } },
    env: Array.from({ length: 20 }, (_, n) => ({ name: `SETTING_${n}`, value: `value-${n}-of-${index % 1_000}` })),
    volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
    imagePullPolicy: 'IfNotPresent',
  });
  return {
    metadata: {
      ...namesOf(index),
      generation: 1,
      labels: { app: `web-${index % 1_000}` },
      managedFields: [{ manager: 'kubelet', fieldsV1: { 'f:status': { 'f:conditions': {}, 'f:phase': {} } } }],
    },
    spec: {
      nodeName: `node-${index % 1_000}`,
      priority: (index % QUOTAS) * 1_000,
      priorityClassName: `class-${index % QUOTAS}`,
      containers: [container('main'), container('proxy')],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** After this many pods, the generated pods repeat. */
const KINDS_OF_PODS = 1_000;
/** Metadata besides the names, spec and status of each pod. */
const kindsOfPods = Array.from({ length: KINDS_OF_PODS }, (_, index) => {
  const { metadata, ...rest } = rawPod(index);
  const { generation, labels, managedFields } = metadata;
  return {
    metadata: encodeMessage(OBJECT_META, { generation, labels, managedFields }),
    rest: encodeMessage(POD, rest),
  };
});

/** A pod in protobuf. Put together from bytes, because the garbage of the bench would be collected at the webhook's expense. */
export function podMessage(index: number, revised = namesOf(index)): Buffer {
  const { metadata, rest } = kindsOfPods[index % KINDS_OF_PODS] ?? NO_POD;
  const names = encodeMessage(OBJECT_META, revised);
  return Buffer.concat([bytesField(1, Buffer.concat([names, metadata])), rest]);
}
