import { DEFAULT_SCHEDULER } from '#shared/domain/admission/choose-fields.ts';
import type { PodRequest, Requester } from '#shared/domain/admission/request.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { MAX_OWNERS } from '#shared/domain/priority/priority-policy.ts';
import { fieldOf, isRecord } from '#shared/kube/kube-object.ts';
import { annotationProblemsOfPod } from '#shared/kube/annotations/annotations.ts';
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { decodePod } from './decode-pod.ts';
import type { Decoded } from './wire-object.ts';

const LOWEST_INT32 = -(2 ** 31);
const HIGHEST_INT32 = 2 ** 31 - 1;

/** Decodes a raw pod from a create request. `namespace` is the request's and applies if the pod does not name one. */
export function decodePodRequest(raw: unknown, requester: Requester, namespace: string): Decoded<PodRequest> {
  const decoded = decodePod(raw);
  if (!decoded.ok) return decoded;
  const { priority } = decoded.value.spec;
  if (priority !== undefined && !isInt32(priority)) {
    return {
      ok: false,
      field: 'spec.priority',
      message: `expected a whole number from ${LOWEST_INT32} to ${HIGHEST_INT32}`,
    };
  }
  const pod = decoded.value.namespace === '' ? { ...decoded.value, namespace } : decoded.value;
  const spec = fieldOf(raw, 'spec');
  const account = fieldOf(spec, 'serviceAccountName') ?? fieldOf(spec, 'serviceAccount');
  return {
    ok: true,
    value: {
      pod,
      requester,
      serviceAccountName: textOr('default', account),
      schedulerName: textOr(DEFAULT_SCHEDULER, fieldOf(spec, 'schedulerName')),
      classNamedBy: whoNamedTheClass(raw),
      ownerKind: pod.owners.length > MAX_OWNERS ? undefined : controllerOf(pod)?.kind,
      recordedRule: pod.annotations.get(ANNOTATION_CLASS_RULE) || undefined,
      annotationProblems: annotationProblemsOfPod(pod.annotations),
    },
  };
}

function textOr(absent: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : absent;
}

/** A Kubernetes client has no negative zero in JSON, and larger numbers lose their last digits when parsed. */
function isInt32(value: number): boolean {
  return value >= LOWEST_INT32 && value <= HIGHEST_INT32 && !Object.is(value, -0);
}

/**
 * Whether a client named the class. managedFields contains the class name only then: the Priority plugin has no field
 * manager. Unknown if there are no managedFields.
 */
function whoNamedTheClass(raw: unknown): PodRequest['classNamedBy'] {
  const entries = fieldOf(fieldOf(raw, 'metadata'), 'managedFields');
  if (!Array.isArray(entries) || entries.length === 0) return 'unknown';
  const isNamed = entries.some((entry: unknown) => {
    const spec = fieldOf(fieldOf(entry, 'fieldsV1'), 'f:spec');
    return isRecord(spec) && Object.hasOwn(spec, 'f:priorityClassName');
  });
  return isNamed ? 'person' : 'default';
}

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

/** Whether objects of this kind create pods from a template. */
function hasTemplate(kind: string): boolean {
  return Object.hasOwn(TEMPLATE_PATHS, kind);
}

/** The raw pod template of a raw workload; `undefined` if it has none. */
export function rawTemplate(workload: unknown): unknown {
  const kind = fieldOf(workload, 'kind');
  const path = typeof kind === 'string' && hasTemplate(kind) ? TEMPLATE_PATHS[kind] : undefined;
  return path?.reduce<unknown>((node, key) => fieldOf(node, key), workload);
}

/** Decodes the template of a raw workload as the pod that a controller would create; `undefined` if it has none. */
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
  if (!decoded.ok) return decoded;
  const kind = String(fieldOf(workload, 'kind'));
  // The API server fills no defaults into a template: a user named everything in it.
  return { ok: true, value: { ...decoded.value, classNamedBy: 'person', ownerKind: OWNERS_BETWEEN[kind] ?? kind } };
}

/** Kinds that own pods through another object of theirs. */
export const OWNERS_BETWEEN: Readonly<Record<string, string>> = { Deployment: 'ReplicaSet', CronJob: 'Job' };

function nameOf(workload: unknown): string {
  const name = fieldOf(fieldOf(workload, 'metadata'), 'name');
  return typeof name === 'string' ? name : '';
}
