import { type Instant, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import { EVENT_REASONS, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';

/** An Event of a namespace, as far as it explains a pod. */
export interface PodEvent {
  readonly reason: string;
  readonly note: string;
  readonly at: Instant;
  /** What it regards. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * Reads Events of events.k8s.io/v1; unreadable fields are empty. Users of a namespace may write Events there: those with
 * a reason that only our processes report, under another name, are left out.
 */
export function decodePodEvents(raw: readonly unknown[], now: Instant): readonly PodEvent[] {
  return raw.filter(isByReporter).map((each) => decodePodEvent(each, now));
}

/** Kubelets and kube-scheduler report the same. */
const OF_OTHERS: readonly string[] = [EVENT_REASONS.thresholdMet, EVENT_REASONS.evicted, EVENT_REASONS.preempted];
const OURS: ReadonlySet<unknown> = new Set(Object.values(EVENT_REASONS).filter((each) => !OF_OTHERS.includes(each)));
/** The API server keeps these names for our accounts. */
const REPORTERS: ReadonlySet<unknown> = new Set(Object.values(REPORTING_CONTROLLERS));

/** Whether the reporter of an Event is one of our processes, if its reason is one that only these report. */
function isByReporter(raw: unknown): boolean {
  return !OURS.has(fieldOf(raw, 'reason')) || REPORTERS.has(fieldOf(raw, 'reportingController'));
}

/**
 * When an Event was last seen. Its author chooses its times, except the creation time, which the API server sets: a time
 * in the future is passed over, and none is later than `now`.
 */
export function lastSeen(raw: unknown, now: Instant): Instant {
  const given = [
    fieldOf(fieldOf(raw, 'series'), 'lastObservedTime'),
    fieldOf(raw, 'deprecatedLastTimestamp'),
    fieldOf(raw, 'eventTime'),
    fieldOf(fieldOf(raw, 'metadata'), 'creationTimestamp'),
  ];
  const times = given.map((each) => Date.parse(textOf(each))).filter((each) => !Number.isNaN(each));
  const credible = times.find((time) => time - now <= MAX_SKEW_MS);
  return Math.min(credible ?? times.at(-1) ?? 0, now);
}

function decodePodEvent(raw: unknown, now: Instant): PodEvent {
  const regarding = fieldOf(raw, 'regarding');
  return {
    reason: textOf(fieldOf(raw, 'reason')),
    note: textOf(fieldOf(raw, 'note')),
    at: lastSeen(raw, now),
    kind: textOf(fieldOf(regarding, 'kind')),
    name: textOf(fieldOf(regarding, 'name')),
    uid: textOf(fieldOf(regarding, 'uid')),
  };
}

/** The Events about one pod, the newest first, one of each reason. */
export function eventsOfPod(events: readonly PodEvent[], name: string, uid: string | undefined): readonly PodEvent[] {
  const own = events.filter((each) => each.kind === 'Pod' && each.name === name && (uid ?? each.uid) === each.uid);
  return newestOfEach(own);
}

const FAILED_CREATE = 'FailedCreate';

/** What the controllers that may create a pod of this name were refused; a person may give the name of a controller. */
export function refusalsOf(events: readonly PodEvent[], name: string): readonly PodEvent[] {
  const isOfName = (owner: string): boolean =>
    owner === name || name.startsWith(`${owner}-`) || owner.startsWith(`${name}-`);
  return newestOfEach(events.filter(({ reason, name: owner }) => reason === FAILED_CREATE && isOfName(owner)));
}

function newestOfEach(events: readonly PodEvent[]): readonly PodEvent[] {
  const newest = events.toSorted((a, b) => b.at - a.at);
  return newest.filter(({ reason }, index) => newest.findIndex((each) => each.reason === reason) === index);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
