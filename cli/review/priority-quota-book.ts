import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/priority-quota-exceeded.ts';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { EMPTY_LEDGER, openLedger } from '#shared/domain/quota/ledger.ts';
import { countsPod } from '#shared/domain/quota/priority-quota.ts';
import { judgedNamespaces, QUOTA_ENFORCED } from '#shared/kube/webhook-configurations.ts';
import type { CountedQuota } from './surroundings.ts';

/** The PriorityQuotas and what the pods admitted so far cost them. */
export interface PriorityQuotaBook {
  /** Charges a pod, in a namespace with these labels, to every quota that counts it; to none where one refuses it. */
  charge(pod: Pod, namespaceLabels: ReadonlyMap<string, string>): AdmissionDecision | undefined;
}

const ENFORCED = prepareSelector({ matchLabels: new Map(), ...judgedNamespaces(QUOTA_ENFORCED) });

/** `quotas` in the order in which they are asked. */
export function openPriorityQuotas(quotas: readonly CountedQuota[], now: Instant): PriorityQuotaBook {
  let used = new Map(quotas.map((quota) => [quota.name, quota.used]));

  function chargeAll(pod: Pod, counting: readonly CountedQuota[]): AdmissionDecision | undefined {
    const { uid, namespace, name } = pod;
    const reservation = { uid, namespace, pod: name, amounts: charge(pod, now), admittedAt: now };
    const after = new Map(used);
    for (const quota of counting) {
      const ledger = openLedger({ ...EMPTY_LEDGER, used: used.get(quota.name) ?? EMPTY_LEDGER.used }, quota.hard);
      const outcome = ledger.reserve(reservation);
      if (outcome.kind === 'exceeded') return priorityQuotaExceeded(quota.name, pod, outcome.exceeded);
      after.set(quota.name, ledger.state().used);
    }
    used = after;
    return undefined;
  }

  return {
    charge(pod, labels) {
      if (!ENFORCED.matches(labels)) return undefined;
      const counting = quotas.filter(({ namespaces, scope }) => namespaces.matches(labels) && countsPod(scope, pod));
      return chargeAll(pod, counting);
    },
  };
}
