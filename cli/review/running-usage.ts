import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { NO_KNOWN_PODS, type KnownPods } from '#shared/domain/admission/known-pods.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/webhook-configurations.ts';
import { openPriorityQuotas } from './priority-quota-book.ts';
import { openResourceQuotas } from './resource-quota-book.ts';
import type { ReviewState } from './cluster-state.ts';

/** What pods are judged by, as it is after the pods that were admitted before. */
export interface RunningUsage {
  readonly world: ClusterState;
  /** Charges a pod to all its quotas, or to none where a PriorityQuota refuses it. */
  charge(pod: Pod): AdmissionDecision | undefined;
}

/** `present`: pods that exist already; quotas have counted them. */
export function openRunningUsage(state: ReviewState, now: Instant, present: KnownPods = NO_KNOWN_PODS): RunningUsage {
  const quotas = [...state.priorityQuotas.values()].toSorted(byName);
  const priorityQuotas = openPriorityQuotas(quotas, now);
  const resourceQuotas = openResourceQuotas(state.resourceQuotas.values(), now);
  const pods = [...present.pods];
  const knownPods = { ...present, pods };
  const namespaceLabels = (name: string) => labelsOf(state, name);
  return {
    world: {
      now,
      classes: state.classes,
      policies: [...state.policies.values()].toSorted(byName),
      priorityQuotas: quotas,
      quotaNamespaces: QUOTA_NAMESPACES,
      quotaLabel: QUOTA_LABEL,
      namespaceLabels,
      namespaceNames: () => state.namespaces.keys(),
      knownPods,
      resourceQuotas: (namespace) => resourceQuotas.of(namespace),
    },
    charge(pod) {
      const refusal = priorityQuotas.charge(pod, namespaceLabels(pod.namespace), knownPods);
      if (refusal !== undefined) return refusal;
      resourceQuotas.charge(pod);
      pods.push(pod);
      return undefined;
    },
  };
}

/** The API server labels every namespace with its name; for a namespace that no file describes, that is all we know. */
function labelsOf({ namespaces }: ReviewState, name: string): ReadonlyMap<string, string> {
  return new Map([...(namespaces.get(name)?.labels ?? []), ['kubernetes.io/metadata.name', name]]);
}
