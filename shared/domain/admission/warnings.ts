import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { areAllZero } from '#shared/domain/quantity/quantity.ts';
import { policiesFor, PREEMPT_LOWER_PRIORITY, PREEMPT_NEVER } from '#shared/domain/priority/classes-and-policies.ts';
import { spareGrant } from '#shared/domain/priority/run-on.ts';
import { usesSpareRoom } from '#shared/domain/spare/spare-room.ts';
import {
  prepareTerms,
  selectsPod,
  termSize,
  type AffinityTerm,
  selectsNamespace,
} from '#shared/domain/pod/affinity-term.ts';
import { type Pod, type PodAffinityTerm, hasEnded } from '#shared/domain/pod/pod.ts';
import { PHRASES, listSome } from './messages/priority-messages.ts';
import type { ClusterState, PodSearch } from './cluster-state.ts';
import { classQuotasOf } from './rules/room-rules.ts';
import type { PodRequest } from './request.ts';

/** Longer grace periods get a warning. */
export const LONG_GRACE_SECONDS = 600;

type Lint = (request: PodRequest, cluster: ClusterState) => readonly string[];

/**
 * What requesters are warned of. Where the API server applies the rules itself, it asks the webhook only about pods that
 * may get a warning (shared/kube/admission/left-to-webhook.ts).
 */
export const WARNINGS = {
  annotations: ({ annotationProblems }: PodRequest) => annotationProblems,
  gracePeriod: lintGracePeriod,
  unusedRoom: lintUnusedRoom,
  spareRoom: lintSpareWish,
  affinity: affinityWarnings,
} as const satisfies Readonly<Record<string, Lint>>;

/** Warnings for the requester about a pod that is allowed but probably not as intended. */
export function podWarnings(request: PodRequest, cluster: ClusterState): readonly string[] {
  return Object.values<Lint>(WARNINGS).flatMap((lint) => lint(request, cluster));
}

/** A preemptor waits for its victim's whole grace period (S1-16). */
function lintGracePeriod({ pod }: PodRequest, { classes }: ClusterState): readonly string[] {
  const { terminationGracePeriodSeconds: seconds = 0, priority = 0 } = pod.spec;
  if (seconds <= LONG_GRACE_SECONDS) return [];
  const [preemptor] = [...classes.values()]
    .filter(({ value, preemptionPolicy }) => value > priority && preemptionPolicy === PREEMPT_LOWER_PRIORITY)
    .sort((a, b) => a.value - b.value || byName(a, b));
  return preemptor === undefined ? [] : [PHRASES.longGracePeriod(priority, preemptor.name, seconds)];
}

/** An unused quota suggests free room, but a pod that never preempts cannot take it from other pods. */
function lintUnusedRoom({ pod }: PodRequest, cluster: ClusterState): readonly string[] {
  const { priorityClassName, preemptionPolicy } = pod.spec;
  if (preemptionPolicy !== PREEMPT_NEVER || priorityClassName === undefined) return [];
  const unused = classQuotasOf(pod, cluster.resourceQuotas(pod.namespace)).find(({ used }) => areAllZero(used));
  return unused === undefined ? [] : [PHRASES.neverPreemptsInQuota(priorityClassName, unused.name)];
}

/** A pod that asks for spare room where no policy grants it runs as it would without asking. */
function lintSpareWish(request: PodRequest, cluster: ClusterState): readonly string[] {
  const { asksSpareRoom, pod } = request;
  if (!asksSpareRoom || usesSpareRoom(pod)) return [];
  const grant = spareGrant(policiesFor(request, cluster), pod.spec.priorityClassName ?? '');
  return grant === 'None' ? [PHRASES.spareNotGranted()] : [];
}

/** Comparisons of a label with a requirement: some milliseconds. */
const MAX_WORK = 20_000;

/**
 * Warns about a pod with required affinity to pods of lower priority: the scheduler does not preempt those for it,
 * because without them the node would no longer match (S1-20). Preferred affinity is not checked, since it keeps no pod
 * pending. Only pods of the pod's own namespace are named, found within a work limit: the requester may have no right
 * to read other namespaces, not even the number of their pods.
 */
function affinityWarnings({ pod }: PodRequest, cluster: ClusterState): readonly string[] {
  const known = cluster.knownPods.pods.length;
  if (known === 0) return [];
  const warnings: string[] = [];
  const limit = createWorkLimit(MAX_WORK);
  for (const [index, term] of checkedTerms(pod.spec.scheduling.podAffinity).entries()) {
    if (!limit.take((1 + termSize(term)) * (1 + known))) break;
    warnings.push(...lintTerm(pod, index, term, cluster));
  }
  return warnings;
}

function lintTerm(pod: Pod, index: number, term: PodAffinityTerm, cluster: ClusterState): readonly string[] {
  const { priority = 0 } = pod.spec;
  const partners = prepareTerms(pod, [term]).flatMap((prepared) => partnersOf(prepared, pod.namespace, cluster));
  const lower = partners.filter(({ spec }) => (spec.priority ?? 0) < priority);
  if (lower.length === 0) return [];
  const path = `spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[${index}]`;
  const described = listSome(lower.map(describe), cluster.knownPods.isPartial);
  return [PHRASES.affinityToLowerPriority(path, priority, described)];
}

function partnersOf(term: AffinityTerm, own: string, { knownPods, namespaceLabels }: ClusterState): readonly Pod[] {
  const labels = namespaceLabels(own) ?? NO_LABELS;
  const inOwn = knownPods.pods.filter(({ namespace }) => namespace === own);
  return inOwn.filter((pod) => !hasEnded(pod) && selectsPod(term, pod, labels));
}

function describe({ name, spec }: Pod): string {
  return `\`${name}\` (${spec.priority ?? 0})`;
}

/** Bounds the work for a warning: a pod may have any number of terms. */
export const MAX_CHECKED_TERMS = 8;

/**
 * The pods of its own namespace that a pod must be co-located with, found within a work limit; empty for nearly every
 * pod. The requester may have no right to read the pods and labels of other namespaces, so a warning must not depend on
 * them.
 */
export function affinitySearches({ pod }: PodRequest, cluster: ClusterState): readonly PodSearch[] {
  const labels = cluster.namespaceLabels(pod.namespace) ?? NO_LABELS;
  const limit = createWorkLimit(MAX_WORK);
  const searches: PodSearch[] = [];
  for (const term of checkedTerms(pod.spec.scheduling.podAffinity)) {
    // A term without a label selector selects no pod.
    if (term.labelSelector === undefined) continue;
    if (!limit.take(1 + termSize(term))) break;
    const [prepared] = prepareTerms(pod, [term]);
    const isOwn = prepared !== undefined && selectsNamespace(prepared, pod.namespace, labels);
    if (isOwn) searches.push({ namespace: pod.namespace, selector: term.labelSelector });
  }
  return searches;
}

/** The terms that are checked. */
function checkedTerms(terms: readonly PodAffinityTerm[]): readonly PodAffinityTerm[] {
  return terms.slice(0, MAX_CHECKED_TERMS);
}

/** A work limit for something optional. */
export interface WorkLimit {
  /** Whether this much more work may be done; once the limit is exceeded, no more work is allowed. */
  take(cost: number): boolean;
}

/** A limit of `total` units. */
function createWorkLimit(total: number): WorkLimit {
  let left = total;
  return {
    take: (cost) => {
      left -= cost;
      return left >= 0;
    },
  };
}
