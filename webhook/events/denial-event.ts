import type { AdmissionCode } from '#shared/domain/admission/admission-code.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { EventRecord, ObjectReference } from '#shared/kube/events/event-series.ts';
import {
  apiVersionOf,
  PODS,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  type Resource,
} from '#shared/kube/resource.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { EVENTS } from '#webhook/messages.ts';

/**
 * The Event for a refusal; `undefined` if only the requester needs to know. It regards the policy or quota that
 * refused, or the pod that stays, and has the same text for similar refusals, so that they form one series.
 */
export function denialEvent(
  { isDryRun, namespace }: AdmissionRequest,
  decision: AdmissionDecision,
): EventRecord | undefined {
  if (decision.kind === 'allowed' || isDryRun) return undefined;
  const { because } = decision;
  if (BY_POLICY.has(because.code)) {
    return refusedPod(
      policyOf(because),
      EVENT_REASONS.policyViolated,
      EVENTS.refusedInNamespace(namespace, because.text),
    );
  }
  if (because.code === 'QuotaExceeded') {
    return refusedPod(quotaOf(because), EVENT_REASONS.quotaExceeded, quotaNote(because));
  }
  return BY_GATE.has(because.code) ? keptPod(because) : undefined;
}

const BY_POLICY: ReadonlySet<string> = new Set<AdmissionCode>([
  'ClassNotAllowed',
  'PriorityAboveCeiling',
  'PreemptionNotAllowed',
  'QuotaRequired',
]);
const BY_GATE: ReadonlySet<string> = new Set<AdmissionCode>([
  'DisruptionOfProtectedPod',
  'DisruptionOfOtherPod',
  'DisruptionUnwanted',
  'DisruptionOnOtherNode',
  'DisruptionLimitReached',
]);

function refusedPod(regarding: ObjectReference, reason: string, note: string): EventRecord {
  return { regarding, type: 'Warning', reason, note, action: 'Admit' };
}

/** Used and requested amounts differ from pod to pod, so a series of Events leaves them out. */
function quotaNote({ facts }: Because): string {
  return EVENTS.refusedByQuota({
    priorityClassName: textOf(facts['priorityClassName']),
    namespace: textOf(facts['namespace']),
    resource: textOf(facts['resource']),
    hard: textOf(facts['hard']),
  });
}

function keptPod({ text, facts }: Because): EventRecord {
  const isPreemption = facts['caller'] === 'scheduler';
  const { namespace, name, uid } = facts;
  return {
    regarding: { ...reference(PODS, textOf(name)), namespace: textOf(namespace), uid: textOf(uid) },
    type: 'Warning',
    reason: isPreemption ? EVENT_REASONS.preemptionRefused : EVENT_REASONS.evictionFailed,
    note: EVENTS.keptPod(isPreemption ? 'preemption' : 'removal', textOf(facts['caller']), text),
    action: isPreemption ? 'Preempt' : 'Evict',
  };
}

function policyOf({ facts }: Because): ObjectReference {
  return reference(PRIORITY_POLICIES, textOf(facts['policy']));
}

function quotaOf({ facts }: Because): ObjectReference {
  const { quota, quotaKind, namespace } = facts;
  if (quotaKind === 'PriorityQuota') return reference(PRIORITY_QUOTAS, textOf(quota));
  return { ...reference(RESOURCE_QUOTAS, textOf(quota)), namespace: textOf(namespace) };
}

function reference(resource: Resource, name: string): ObjectReference {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name };
}

function textOf(fact: Because['facts'][string] | undefined): string {
  return String(fact ?? '');
}
