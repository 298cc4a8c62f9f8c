import type { AdmissionDecision, Refused } from '#shared/domain/admission/decision.ts';
import type { AdmissionCode } from '#shared/domain/admission/messages.ts';
import { RULE_MESSAGES } from '#shared/domain/admission/policy-rules.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder, ObjectReference, EventRecord } from '#shared/kube/events/event-recorder.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import {
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  type Resource,
  apiVersionOf,
  PODS,
} from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { EVENTS } from '#webhook/messages.ts';

/** Records Events for refusals. Runs in the background. */
export type RecordDenial = (request: AdmissionRequest, refused: Refused) => void;

export interface DenialEventsOptions {
  readonly client: KubeClient;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

interface KnownUid {
  readonly uid: Promise<string | undefined>;
  readonly at: number;
}

const READ_MS = 1_000;
const FRESH_MS = 60_000;
const MAX_REMEMBERED = 200;
const REFUSING_KINDS: readonly Resource[] = [PRIORITY_POLICIES, PRIORITY_QUOTAS, RESOURCE_QUOTAS];

/**
 * Records denial Events. `kubectl describe` shows only Events with the object's UID, which a refusal does not carry, so
 * it is looked up.
 */
export function createDenialEvents({ client, events, clock }: DenialEventsOptions): RecordDenial {
  const known = new Map<string, KnownUid>();

  function uidOf(reference: ObjectReference): Promise<string | undefined> {
    const key = `${reference.kind}/${reference.namespace ?? ''}/${reference.name}`;
    const before = known.get(key);
    if (before !== undefined && clock.monotonic() - before.at < FRESH_MS) return before.uid;
    const uid = readUid(client, reference);
    putBounded(known, MAX_REMEMBERED, [key, { uid, at: clock.monotonic() }]);
    return uid;
  }

  return (request, refused) => {
    const event = denialEvent(request, refused);
    if (event === undefined) return;
    const { regarding } = event;
    if (regarding.uid !== undefined) events.record(event);
    else
      void uidOf(regarding).then(
        (uid) => uid !== undefined && events.record({ ...event, regarding: { ...regarding, uid } }),
      );
  };
}

async function readUid(client: KubeClient, { kind, namespace, name }: ObjectReference): Promise<string | undefined> {
  const resource = REFUSING_KINDS.find((each) => each.kind === kind);
  if (resource === undefined) return undefined;
  const found = await getObject(client, { resource, namespace, name }, { timeoutMs: READ_MS });
  return found.kind === 'ok' ? found.object.metadata.uid : undefined;
}

/**
 * The Event for a refusal; `undefined` if only the requester needs to know. It regards the policy or quota that
 * refused, or the pod that stays, and has the same text for similar refusals, so that they form one series.
 */
export function denialEvent(
  { isDryRun, namespace, requester }: AdmissionRequest,
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
  return BY_GATE.has(because.code) ? keptPod(because, requester.name) : undefined;
}

/** A default that was not given is there at the next try, and a label is missing for a quota. */
const BY_POLICY: ReadonlySet<string> = new Set(
  Object.values(RULE_MESSAGES)
    .map(({ code }) => code)
    .filter((code) => code !== 'DefaultNotGiven' && code !== 'QuotaLabelMissing'),
);
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

/** The refusal of a limit names no caller of its own. */
function keptPod({ text, facts }: Because, requester: string): EventRecord {
  const isPreemption = facts['caller'] === 'scheduler';
  const { namespace, name, uid } = facts;
  return {
    regarding: { ...reference(PODS, textOf(name)), namespace: textOf(namespace), uid: textOf(uid) },
    type: 'Warning',
    reason: isPreemption ? EVENT_REASONS.preemptionRefused : EVENT_REASONS.evictionFailed,
    note: EVENTS.keptPod(isPreemption ? 'preemption' : 'removal', textOf(facts['caller'] ?? requester), text),
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
