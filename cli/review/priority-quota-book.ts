import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/refusals/priority-quota-exceeded.ts';
import { addAmounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { chargeToPriorityQuota, costTo, missingFor } from '#shared/domain/quota/charge.ts';
import { EMPTY_LEDGER, largestHolders, type LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import { Ledger } from '#shared/domain/quota/ledger/ledger.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/ledger-limits.ts';
import { refuseFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { countsPod } from '#shared/domain/quota/priority-quota.ts';
import { QUOTA_NAMESPACES } from '#shared/kube/admission/webhook-configurations.ts';
import type { CountedQuota } from '#cli/cluster/counted-quota.ts';

/** The PriorityQuotas and what the pods admitted so far cost them. */
export interface PriorityQuotaBook {
  /** Charges a pod, in a namespace with these labels, to every quota that counts it; to none where one refuses it. */
  charge(pod: Pod, namespaceLabels: ReadonlyMap<string, string>, knownPods: KnownPods): AdmissionDecision | undefined;
}

/** `quotas` in the order in which they are asked. */
export function openPriorityQuotas(quotas: readonly CountedQuota[], now: Instant): PriorityQuotaBook {
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
      // Pods in files have no UID, so none of them is remembered by one.
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
