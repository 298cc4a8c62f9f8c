import { sharedTerms, type AffinityTerm } from '#shared/domain/pod/affinity-term.ts';
import type { BudgetEntry } from './budget-entry.ts';
import { type HostPort, sharedHostPorts } from '#shared/domain/pod/host-port.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { scheduledAmounts } from '#shared/domain/pod/scheduled-resources.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';

const NONE: readonly never[] = [];

/** A pod that holds or is promised a place on a node, prepared once for many decisions. */
export interface PlacedPod {
  readonly pod: Pod;
  readonly priority: number;
  /** In seconds since 1970, which V8 keeps in the object itself; `undefined` where the pod has not started. */
  readonly startedAt: number | undefined;
  /** The place in the order in which the snapshot learned of the pods. */
  readonly arrival: number;
  /** What it takes, by column. */
  row: readonly Whole[];
  readonly hostPorts: readonly HostPort[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** The disruption budgets that count it. */
  budgets: readonly BudgetEntry[];
}

/** What a pod takes. Requests follow a resize in progress. `pkg/scheduler/framework/types.go` PodInfo.CalculateResource. */
export function amountsOf(pod: Pod): ReadonlyMap<string, Whole> {
  return scheduledAmounts(podRequests(pod, SCHEDULER_VIEW));
}

/** Prepares a pod; the row holds its `amountsOf`. */
export function preparePlacedPod(pod: Pod, row: readonly Whole[], arrival: number): PlacedPod {
  return {
    pod,
    priority: priorityOf(pod),
    startedAt: secondsOf(pod.status.startTime),
    arrival,
    row,
    hostPorts: orNone(sharedHostPorts(pod)),
    antiAffinity: orNone(sharedTerms(pod, pod.spec.scheduling.podAntiAffinity)),
    budgets: NONE,
  };
}

/** Most lists are empty, and one empty list does for all. */
export function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list;
}

/** No priority is 0. `component-helpers/scheduling/corev1/helpers.go` PodPriority. */
export function priorityOf(pod: Pod): number {
  return pod.spec.priority ?? 0;
}

/** Orders by importance: higher priority, then earlier start, then earlier arrival. `pkg/scheduler/util/utils.go` MoreImportantPod. */
export function compareImportance(a: PlacedPod, b: PlacedPod): number {
  return compareRank(a, b) || a.arrival - b.arrival;
}

/** Importance without the order of arrival: 0 for pods that Kubernetes holds equal. */
export function compareRank(a: PlacedPod, b: PlacedPod): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const first = a.startedAt ?? Infinity;
  const second = b.startedAt ?? Infinity;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function secondsOf(time: Instant | undefined): number | undefined {
  return time === undefined ? undefined : time / 1_000;
}
