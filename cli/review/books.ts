import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import { classQuotasOf } from '#shared/domain/admission/class-quotas.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/priority-quota-exceeded.ts';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { checkQuotas } from '#shared/domain/quota/check-quotas.ts';
import { EMPTY_LEDGER, openLedger, type Ledger } from '#shared/domain/quota/ledger.ts';
import { countsPod } from '#shared/domain/quota/priority-quota.ts';
import { judgedNamespaces, QUOTA_ENFORCED } from '#shared/kube/webhook-configurations.ts';
import type { Surroundings } from './surroundings.ts';

/** What pods are judged by, as it is after the pods that were admitted before. */
export interface Books {
  readonly world: AdmissionWorld;
  /** Charges a pod to all its quotas, or to none where a PriorityQuota refuses it. */
  charge(pod: Pod): AdmissionDecision | undefined;
}

const ENFORCED = prepareSelector({ matchLabels: new Map(), ...judgedNamespaces(QUOTA_ENFORCED) });

export function openBooks(surroundings: Surroundings, now: Instant): Books {
  const resourceQuotas = new Map(surroundings.resourceQuotas);
  const ledgers = new Map<string, Ledger>();
  for (const { name, hard, used } of surroundings.priorityQuotas.values())
    ledgers.set(name, openLedger({ ...EMPTY_LEDGER, used }, hard));
  let admitted = 0;

  const world: AdmissionWorld = {
    now,
    classes: surroundings.classes,
    policies: [...surroundings.policies.values()].toSorted(byName),
    priorityQuotas: [...surroundings.priorityQuotas.values()].toSorted(byName),
    namespaceLabels: (namespace) => labelsOf(surroundings, namespace),
    resourceQuotas: (namespace) =>
      [...resourceQuotas.values()].filter((quota) => quota.namespace === namespace).toSorted(byName),
  };

  function chargeLedgers(pod: Pod): AdmissionDecision | undefined {
    const labels = labelsOf(surroundings, pod.namespace);
    if (!ENFORCED.matches(labels)) return undefined;
    const counting = world.priorityQuotas.filter(
      ({ namespaces, scope }) => namespaces.matches(labels) && countsPod(scope, pod),
    );
    // A manifest has no UID: its place in the order stands for it.
    const uid = String(admitted);
    const reservation = { uid, namespace: pod.namespace, pod: pod.name, amounts: charge(pod, now), admittedAt: now };
    for (const [index, { name }] of counting.entries()) {
      const outcome = ledgers.get(name)?.reserve(reservation);
      if (outcome?.kind !== 'exceeded') continue;
      for (const earlier of counting.slice(0, index)) ledgers.get(earlier.name)?.cancel(uid);
      return priorityQuotaExceeded(name, pod, outcome.exceeded);
    }
    return undefined;
  }

  function chargeResourceQuotas(pod: Pod): void {
    const quotas = classQuotasOf(pod, world.resourceQuotas(pod.namespace));
    const request = { operation: 'CREATE', subresource: '', pod, oldPod: undefined, isDryRun: false, now };
    const verdict = checkQuotas(request, quotas, []);
    if (verdict.kind === 'refused') return;
    for (const quota of quotas) {
      const used = verdict.newUsed.get(quota.name);
      if (used !== undefined) resourceQuotas.set(`${quota.namespace}/${quota.name}`, { ...quota, used });
    }
  }

  return {
    world,
    charge: (pod) => {
      admitted += 1;
      const refusal = chargeLedgers(pod);
      if (refusal === undefined) chargeResourceQuotas(pod);
      return refusal;
    },
  };
}

/** The API server labels every namespace with its name; of a namespace that nobody described that is all we know. */
function labelsOf({ namespaces }: Surroundings, name: string): ReadonlyMap<string, string> {
  return new Map([...(namespaces.get(name)?.labels ?? []), ['kubernetes.io/metadata.name', name]]);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
