import { type ClusterState, type KnownPods, NO_KNOWN_PODS } from '#shared/domain/admission/cluster-state.ts';
import { type AdmissionDecision, refuseFor } from '#shared/domain/admission/decision.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/quota-refusals.ts';
import { addAmounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { chargeToPriorityQuota, costTo, missingFor } from '#shared/domain/quota/charge.ts';
import { EMPTY_LEDGER, largestHolders, type LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { countsPod } from '#shared/domain/quota/priority-quota.ts';
import type { CountedQuota } from '#cli/cluster/cluster-model.ts';
import { classQuotasOf } from '#shared/domain/admission/rules/room-rules.ts';
import { checkQuotas } from '#shared/domain/quota/resource-quota/check-quotas.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { ReviewState } from './cluster-state.ts';

/** The usage of quotas after the pods admitted so far. */
export interface RunningUsage {
  readonly world: ClusterState;
  /** Charges a pod to all its quotas, or to none if a PriorityQuota refuses it. */
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

/**
 * The API server labels every namespace with its name; for a namespace without a file, that is the only known label.
 */
function labelsOf({ namespaces }: ReviewState, name: string): ReadonlyMap<string, string> {
  return new Map([...(namespaces.get(name)?.labels ?? []), ['kubernetes.io/metadata.name', name]]);
}

/** The PriorityQuotas and what the pods admitted so far cost them. */
interface PriorityQuotaBook {
  /** Charges a pod, in a namespace with these labels, to every quota that counts it; to none if one refuses it. */
  charge(pod: Pod, namespaceLabels: ReadonlyMap<string, string>, knownPods: KnownPods): AdmissionDecision | undefined;
}

/** `quotas` in the order in which they are asked. */
function openPriorityQuotas(quotas: readonly CountedQuota[], now: Instant): PriorityQuotaBook {
  let states = new Map<string, LedgerState>(
    quotas.map(({ name, used, byNamespace, hard }) => [
      name,
      { ...EMPTY_LEDGER, used: limitedAmounts(used, hard), byNamespace },
    ]),
  );

  function chargeAll(pod: Pod, counting: readonly CountedQuota[], knownPods: KnownPods): AdmissionDecision | undefined {
    const { uid, namespace, name } = pod;
    const charged = chargeToPriorityQuota(pod);
    const after = new Map<string, LedgerState>(states);
    for (const quota of counting) {
      const missing = missingFor(quota, pod);
      if (missing !== undefined) return refuseFor(MESSAGES.quotaValuesMissing, { quota: quota.name, missing });
      const reservation = { uid, namespace, pod: name, amounts: costTo(quota, charged), admittedAt: now };
      const ledger = new Ledger(states.get(quota.name) ?? EMPTY_LEDGER, quota.hard);
      const outcome = ledger.reserve(reservation);
      if (outcome.kind === 'exceeded') {
        const namespaces = largestHolders(ledger.state(), outcome.exceeded[0]?.resource ?? '');
        return priorityQuotaExceeded(quota, pod, outcome.exceeded, { namespaces, knownPods, now });
      }
      const { used, byNamespace } = ledger.state();
      const own = addAmounts(byNamespace.get(namespace) ?? NO_AMOUNTS, reservation.amounts);
      // Pods in files have no UID, so they are not remembered by UID.
      after.set(quota.name, { ...EMPTY_LEDGER, used, byNamespace: new Map(byNamespace).set(namespace, own) });
    }
    states = after;
    return undefined;
  }

  return {
    charge(pod, labels, knownPods) {
      if (!QUOTA_NAMESPACES.matches(labels)) return undefined;
      const counting = quotas.filter(({ namespaces, scope }) => namespaces.matches(labels) && countsPod(scope, pod));
      return chargeAll(pod, counting, knownPods);
    },
  };
}

/** The ResourceQuotas and what the pods admitted so far cost them. */
interface ResourceQuotaBook {
  /** Those of a namespace, in order of their names. */
  of(namespace: string): readonly ResourceQuota[];
  /** Charges a pod that was admitted to the quotas of its class. */
  charge(pod: Pod): void;
}

function openResourceQuotas(all: Iterable<ResourceQuota>, now: Instant): ResourceQuotaBook {
  const byNamespace = Map.groupBy(all, ({ namespace }) => namespace);
  for (const quotas of byNamespace.values()) quotas.sort(byName);
  const of = (namespace: string): readonly ResourceQuota[] => byNamespace.get(namespace) ?? [];

  function charge(pod: Pod): void {
    const { namespace } = pod;
    const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: false, now };
    const verdict = checkQuotas(request, classQuotasOf(pod, of(namespace)), []);
    if (verdict.kind === 'refused' || verdict.newUsed.size === 0) return;
    const charged = of(namespace).map((quota) => ({ ...quota, used: verdict.newUsed.get(quota.name) ?? quota.used }));
    byNamespace.set(namespace, charged);
  }

  return { of, charge };
}
