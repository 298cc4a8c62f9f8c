import { isDeepStrictEqual } from 'node:util';
import { allowFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { malformed, unexpectedResource, standsUnconfirmed } from '#shared/domain/admission/refusals.ts';
import { decodePodRequest, decodeTemplate, rawTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';
import { decideGroupTemplate, decidePodGroup } from '#shared/domain/admission/decide-validation.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import type { ClusterState, KnownPods } from '#shared/domain/admission/cluster-state.ts';
import { decideClassChange, type ClassChange } from '#shared/domain/admission/decide-class-change.ts';
import { decodeAnnotatedClass, decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { annotationProblemsOfClass } from '#shared/kube/annotations/annotations.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';
import { decideThenConfirm, type AdmissionPhase, type PodSources, TEMPLATE } from './decide-then-confirm.ts';

/** Handles the creation of pods; a refusal based on cached objects is checked on live ones. */
export function podHandler(sources: PodSources, phase: AdmissionPhase): AdmissionHandler {
  return (review) => {
    const unexpected = notACreatedPod(review);
    if (unexpected !== undefined) return unexpected;
    const { requester, namespace } = review.request;
    const decoded = decodePodRequest(review.object, requester, namespace);
    if (!decoded.ok) return malformed('object', decoded);
    return decideThenConfirm({ review, request: decoded.value, phase }, sources);
  };
}

/**
 * Refuses anything but the creation of a pod: a webhook rule that sends it is misconfigured, which must not go
 * unnoticed.
 */
function notACreatedPod({ request }: Review): AdmissionDecision | undefined {
  const { group, resource, subresource, operation } = request;
  if (group !== '' || resource !== 'pods' || subresource !== '') return unexpectedResource(request, 'pods');
  return operation === 'CREATE' ? undefined : allowFor(MESSAGES.changesNoPriority, { operation });
}

const RESOURCES: readonly string[] = [
  ...['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'],
];

/**
 * Handles workloads by the pods they would create; an update that leaves the template unchanged (scaling) is allowed.
 */
export function templateHandler(sources: PodSources): AdmissionHandler {
  const handleGroup = groupHandler(sources);
  return (review) => {
    const { request, object, oldObject } = review;
    if (isGroup(request)) return handleGroup(review);
    if (!RESOURCES.includes(request.resource)) return unexpectedResource(request, 'a workload');
    if (request.operation === 'UPDATE' && isDeepStrictEqual(rawTemplate(object), rawTemplate(oldObject))) {
      return allowFor(MESSAGES.templateUnchanged, {});
    }
    const template = decodeTemplate(object, request.requester, request.namespace);
    if (template === undefined) return allowFor(MESSAGES.noTemplate, {});
    if (!template.ok) return malformed('object', template);
    return decideThenConfirm({ review, request: template.value, phase: TEMPLATE }, sources);
  };
}

/** By resource of `scheduling.k8s.io`; neither can be changed later. */
const PHASES: Readonly<Record<string, AdmissionPhase>> = {
  podgroups: { decide: decidePodGroup, explains: false },
  workloads: { decide: decideGroupTemplate, explains: false },
};

/** Whether a resource is a group of pods that the scheduler places together, or holds templates of such groups. */
function isGroup({ group, resource }: Review['request']): boolean {
  return group === 'scheduling.k8s.io' && Object.hasOwn(PHASES, resource);
}

/** Handles groups by each class that they name; the first refusal decides. */
function groupHandler(sources: PodSources): AdmissionHandler {
  return async (review) => {
    const phase = PHASES[review.request.resource];
    let decision: AdmissionDecision = allowFor(MESSAGES.noTemplate, {});
    for (const name of classNames(review.object)) {
      const group = groupOf(name, review.request);
      if (phase === undefined || decision.kind === 'refused') break;
      if (!group.ok) return malformed('object', group);
      decision = await decideThenConfirm({ review, request: group.value, phase }, sources);
    }
    return decision;
  };
}

/** The class of a PodGroup, or those of the templates of a Workload, each once. */
function classNames(object: unknown): ReadonlySet<unknown> {
  const spec = fieldOf(object, 'spec');
  const templates = fieldOf(spec, 'podGroupTemplates');
  const holders: readonly unknown[] = [spec, ...(Array.isArray(templates) ? (templates as unknown[]) : [])];
  return new Set(holders.map((holder) => fieldOf(holder, 'priorityClassName') ?? '').filter((name) => name !== ''));
}

/** As a pod of the class without a service account. */
function groupOf(priorityClassName: unknown, { requester, namespace }: Review['request']): Decoded<PodRequest> {
  const pod = { metadata: { namespace }, spec: { priorityClassName, containers: [] } };
  const decoded = decodePodRequest(pod, requester, namespace);
  return decoded.ok ? { ok: true, value: { ...decoded.value, serviceAccountName: '' } } : decoded;
}

export interface ClassSources {
  readonly cluster: StateReader;
  /** Seconds since the API server last sent anything about the objects that decisions use. */
  readonly cacheAgeSeconds: () => number | undefined;
  /**
   * The cluster state with everything that names classes read from the API server; used before a refusal is returned.
   */
  readonly liveClasses: () => Promise<ClusterState>;
  /** Pods of a class, as far as they can be found in time. Never rejects. */
  readonly podsOfClass: (name: string) => Promise<KnownPods>;
}

const NO_CLASS = { ok: true, value: undefined } as const;

/** Handles changes of priority classes that policies, quotas and pods depend on. */
export function priorityClassHandler({
  cluster,
  cacheAgeSeconds,
  liveClasses,
  podsOfClass,
}: ClassSources): AdmissionHandler {
  return async (review) => {
    const { group, resource, operation } = review.request;
    if (group !== 'scheduling.k8s.io' || resource !== 'priorityclasses') {
      return unexpectedResource(review.request, 'priorityclasses');
    }
    const change = readChange(review);
    if ('kind' in change) return change;
    const decision = decideClassChange(change, cluster());
    if (decision.kind === 'refused') {
      const live = await liveClasses().catch(errorText);
      return typeof live === 'string'
        ? standsUnconfirmed(decision, { cause: live, ageSeconds: cacheAgeSeconds() })
        : decideClassChange(change, live);
    }
    if (operation !== 'DELETE' || change.before === undefined) return decision;
    return decideClassChange(change, { ...cluster(), knownPods: await podsOfClass(change.before.name) });
  };
}

/** For an update or deletion the existing object is in oldObject, also when a whole collection is deleted. */
function readChange({ request, object, oldObject }: Review): ClassChange | AdmissionDecision {
  const { operation } = request;
  if (operation === 'CONNECT') return allowFor(MESSAGES.changesNoClass, {});
  const before = operation === 'CREATE' ? NO_CLASS : decodePriorityClass(oldObject);
  if (!before.ok) return malformed('oldObject', before);
  if (operation === 'DELETE') return { before: before.value, after: undefined };
  const after = decodeAnnotatedClass(object);
  if (!after.ok) return malformed('object', after);
  const annotationProblems = annotationProblemsOfClass(after.value.annotations);
  return { before: before.value, after: after.value, annotationProblems };
}
