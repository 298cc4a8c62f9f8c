import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { putBounded } from '#shared/domain/model/put-bounded.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { ObjectReference } from '#shared/kube/events/event-series.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PRIORITY_POLICIES, PRIORITY_QUOTAS, RESOURCE_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { denialEvent } from './denial-event.ts';

/** Receives every decision and records Events for refusals. Runs in the background. */
export type RecordDenial = (request: AdmissionRequest, decision: AdmissionDecision) => void;

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
const MOST_REMEMBERED = 200;
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
    putBounded(known, MOST_REMEMBERED, [key, { uid, at: clock.monotonic() }]);
    return uid;
  }

  return (request, decision) => {
    const event = denialEvent(request, decision);
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
