import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { decodePodRequest } from './decode-pod-request.ts';
import type { Decoded } from './decoded.ts';
import { fieldOf } from './field-of.ts';
import { isRecord } from '#shared/kube/kube-object.ts';

/** Where each kind of workload keeps its pod template. */
const TEMPLATE_PATHS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** Whether objects of this kind make pods from a template. */
export function hasTemplate(kind: string): boolean {
  return Object.hasOwn(TEMPLATE_PATHS, kind);
}

/** The raw pod template of a raw workload; `undefined` where it has none. */
export function rawTemplate(workload: unknown): unknown {
  const kind = fieldOf(workload, 'kind');
  const path = typeof kind === 'string' && hasTemplate(kind) ? TEMPLATE_PATHS[kind] : undefined;
  return path?.reduce<unknown>((node, key) => fieldOf(node, key), workload);
}

/** Reads the template of a raw workload as the pod that a controller would create; `undefined` where it has none. */
export function decodeTemplate(
  workload: unknown,
  requester: Requester,
  namespace: string,
): Decoded<PodRequest> | undefined {
  const template = rawTemplate(workload);
  if (!isRecord(template)) return undefined;
  const metadata = fieldOf(template, 'metadata');
  const pod = {
    ...template,
    metadata: { ...(isRecord(metadata) && metadata), namespace, generateName: `${nameOf(workload)}-` },
  };
  const decoded = decodePodRequest(pod, requester, namespace);
  // A template has no default filled in: whatever it names, a person named.
  return decoded.ok ? { ok: true, value: { ...decoded.value, classNamedBy: 'person' } } : decoded;
}

function nameOf(workload: unknown): string {
  const name = fieldOf(fieldOf(workload, 'metadata'), 'name');
  return typeof name === 'string' ? name : '';
}
