import type { ClusterState, KnownPods } from '#shared/domain/admission/cluster-state.ts';
import { decideClassChange, type ClassChange } from '#shared/domain/admission/decide-class-change.ts';
import { type AdmissionDecision, allowFor } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { malformed, standsUnconfirmed, unexpectedResource } from '#shared/domain/admission/refusals.ts';
import { annotationProblemsOfClass } from '#shared/kube/decode/decode-pod-request.ts';
import { decodeAnnotatedClass, decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';

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
