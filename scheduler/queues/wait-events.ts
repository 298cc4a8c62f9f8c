import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant, Owner } from '#shared/domain/pod/pod.ts';
import { announcementsDue } from '#shared/domain/queue/queue-settings.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { type EventRecord, type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { waitingSubjects } from './wait-reasons.ts';

/**
 * Per round, that is, per second: in a burst of 10,000 pods the last one gets its Event after some minutes, unless it
 * was let in.
 */
const MAX_EVENTS = 20;
/**
 * If a pod is older than this when it is first seen, an earlier leader has recorded its Event, unless none was alive
 * then.
 */
const NEW_FOR_MS = 30_000;
/** For an earlier leader's last round, and for clocks that differ. */
const FORMER_LEADER_MS = 10_000;
const PODS_PER_STEP = 1_000;

/**
 * Records Events on waiting pods about what they wait for, at once and after 1, 10 and 60 minutes. Call it once a
 * second. `whyNoRoom` returns what was found for a pod that waits for room. The DaemonSet that `daemonSetOf` finds for a
 * pod gets the same Event, because users do not look at its pods one by one. `formerUntil`: when an earlier leader was last
 * alive.
 */
export function createWaitEvents(
  events: Pick<EventRecorder, 'record'>,
  whyNoRoom: (uid: string) => Because | undefined,
  daemonSetOf: (uid: string) => Owner | undefined = () => undefined,
  formerUntil: Instant = Infinity,
): (plan: QueuePlan, now: Instant) => Steps<void> {
  /** How many Events each waiting pod has got. */
  let recorded = new Map<string, number>();
  /** When this process first saw that a pod gave its share back. */
  let returnedSince = new Map<string, Instant>();
  return function* (plan, now) {
    const next = new Map<string, number>();
    const stillReturned = new Map<string, Instant>();
    let left = MAX_EVENTS;
    const isDue = (key: string, since: Instant): boolean => {
      const due = announcementsDue(since, now);
      const isNew = now - since <= NEW_FOR_MS || since >= formerUntil - FORMER_LEADER_MS;
      const known = recorded.get(key) ?? (isNew ? 0 : due);
      const isRecorded = due > known && left > 0;
      next.set(key, isRecorded ? due : known);
      left -= Number(isRecorded);
      return isRecorded;
    };
    for (const subject of waitingSubjects(plan, whyNoRoom, now)) {
      if (next.size % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
      const { uid, since = returnedSince.get(uid) ?? now } = subject;
      if (subject.since === undefined) stillReturned.set(uid, since);
      if (!isDue(subject.since === undefined ? `returned ${uid}` : uid, since)) continue;
      const because = subject.why();
      const { namespace, name } = subject.address();
      record(events, podReference({ namespace, name, uid }), because);
      const owner = subject.since === undefined ? undefined : daemonSetOf(uid);
      if (owner !== undefined) record(events, daemonSetReference(namespace, owner), because);
    }
    [recorded, returnedSince] = [next, stillReturned];
  };
}

function daemonSetReference(namespace: string, { apiVersion, kind, name, uid }: Owner): EventRecord['regarding'] {
  return { apiVersion, kind, name, uid, namespace };
}

function record(
  events: Pick<EventRecorder, 'record'>,
  regarding: EventRecord['regarding'],
  { text: note }: Because,
): void {
  events.record({
    regarding,
    type: 'Normal',
    reason: EVENT_REASONS.waitsInQueue,
    note,
    action: 'Waiting',
  });
}
