import { DEFAULT_SCHEDULER, type PodRequest, type Requester } from '#shared/domain/admission/request.ts';
import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';
import { MAX_OWNERS } from '#shared/domain/priority/classes-and-policies.ts';
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from '#shared/domain/ranking/candidate.ts';
import { fieldOf, isRecord, type Decoded } from './wire-object.ts';
import {
  ANNOTATION_CLASS_RULE,
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_EVICT,
  ANNOTATION_SPARE,
  FOREIGN_ALLOW_PREEMPTION,
  PREEMPTION_BY_POD,
} from '#shared/kube/api-names.ts';
import { decodePod } from './decode-pod.ts';

/** Decodes a raw pod from a create request. `namespace` is the request's and applies if the pod does not name one. */
export function decodePodRequest(raw: unknown, requester: Requester, namespace: string): Decoded<PodRequest> {
  const decoded = decodePod(raw);
  if (!decoded.ok) return decoded;
  const { priority } = decoded.value.spec;
  if (priority !== undefined && !isInt32(priority)) {
    return {
      ok: false,
      field: 'spec.priority',
      message: `expected a whole number from ${LOWEST_PRIORITY} to ${HIGHEST_PRIORITY}`,
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
      asksSpareRoom: pod.annotations.get(ANNOTATION_SPARE) === 'true',
      annotationProblems: annotationProblemsOfPod(pod.annotations),
    },
  };
}

function textOr(absent: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : absent;
}

/** A Kubernetes client has no negative zero in JSON, and larger numbers lose their last digits when parsed. */
function isInt32(value: number): boolean {
  return value >= LOWEST_PRIORITY && value <= HIGHEST_PRIORITY && !Object.is(value, -0);
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

type Annotations = Pod['annotations'];
type AllowedValues = Readonly<Record<string, readonly string[]>>;

const WORDS_OF_POD: AllowedValues = {
  [ANNOTATION_EVICT]: ['never', 'last'],
  [ANNOTATION_SPARE]: ['true', 'false'],
  [ANNOTATION_ALLOW_PREEMPTION]: ['true', 'false'],
  [FOREIGN_ALLOW_PREEMPTION]: ['true', 'false'],
};
/** The annotations of a pod that Plimsoll reads. */
export const READ_ANNOTATIONS: readonly string[] = Object.keys(WORDS_OF_POD);
const WORDS_OF_CLASS: AllowedValues = {
  [ANNOTATION_ALLOW_PREEMPTION]: ['true', 'false', PREEMPTION_BY_POD],
  [FOREIGN_ALLOW_PREEMPTION]: ['true', 'false', PREEMPTION_BY_POD],
};
const MAX_SHOWN_LENGTH = 40;

/** Warnings about annotations of a pod that have no effect, for the person who wrote them (D-22). */
export function annotationProblemsOfPod(annotations: Annotations): readonly string[] {
  return annotationProblems(annotations, WORDS_OF_POD);
}

/** The same for a priority class. */
export function annotationProblemsOfClass(annotations: Annotations): readonly string[] {
  return annotationProblems(annotations, WORDS_OF_CLASS);
}

function annotationProblems(annotations: Annotations, allowed: AllowedValues): readonly string[] {
  if (annotations.size === 0) return [];
  const unread = Object.entries(allowed).flatMap(([name, words]) => unreadable(name, annotations.get(name), words));
  return [...unread, ...bothNames(annotations)];
}

function unreadable(name: string, value: string | undefined, words: readonly string[]): readonly string[] {
  if (value === undefined || words.includes(value)) return [];
  const accepted = words.map((word) => `\`${word}\``).join(', ');
  const shown = value.slice(0, MAX_SHOWN_LENGTH);
  return [`annotation \`${name}\` is \`${shown}\` and counts as absent: must be one of ${accepted}`];
}

function bothNames(annotations: Annotations): readonly string[] {
  const areBoth = [ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION].every((name) => annotations.has(name));
  return areBoth
    ? [
        `annotation \`${FOREIGN_ALLOW_PREEMPTION}\` is ignored, as it is set together with \`${ANNOTATION_ALLOW_PREEMPTION}\``,
      ]
    : [];
}
