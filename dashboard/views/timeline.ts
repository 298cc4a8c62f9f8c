import type { Cause, Disruption } from '#shared/domain/disruption/disruption.ts';
import { isKubeletRefusal } from '#shared/domain/pod/pod.ts';
import { type Fields, fieldsOf, integerOf, textOf } from '#shared/api/fields.ts';
import { lastSeen } from '#shared/decide/pods/pod-events.ts';
import { EVENT_REASONS, REPORTING_CONTROLLERS } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { type EvictionView, isRemoval, type NodeView, type TimelineEntry, type TimelineKind } from './view.ts';

/** The reasons of Events in the timeline, besides refusals by kubelets; all other Events are left out. */
const KINDS: Readonly<Record<string, TimelineKind>> = {
  [EVENT_REASONS.evicted]: 'eviction',
  [EVENT_REASONS.evictionDryRun]: 'eviction',
  [EVENT_REASONS.preempted]: 'preemption',
  [EVENT_REASONS.reclaimed]: 'reclaim',
  OOMKilling: 'oom',
  SystemOOM: 'oom',
  [EVENT_REASONS.thresholdMet]: 'pressure',
  [EVENT_REASONS.evictionFailed]: 'problem',
  [EVENT_REASONS.evictionIneffective]: 'problem',
  [EVENT_REASONS.evictionLoop]: 'problem',
  [EVENT_REASONS.preemptionLoop]: 'problem',
  [EVENT_REASONS.policyViolated]: 'refusal',
  [EVENT_REASONS.quotaExceeded]: 'refusal',
  FailedCreate: 'refusal',
};
/** A removal with unknown cause is shown with the general word. */
export const KIND_OF_CAUSE: Readonly<Record<Cause, TimelineKind>> = {
  Preemption: 'preemption',
  Eviction: 'eviction',
  KubeletEviction: 'eviction',
  Rescheduling: 'rescheduling',
  Reclaim: 'reclaim',
  OOMKill: 'oom',
  Drain: 'drain',
  Taint: 'taint',
  Deletion: 'deletion',
  NodeLost: 'node-lost',
  Unknown: 'removal',
};
/**
 * Maximum time between reports of the same removal: a long grace period lies between an Event and the end of the pod.
 */
const SAME_REMOVAL_MS = 600_000;
const MAX_ENTRIES = 200;
/** Maximum Events and records kept per namespace, newest first. */
export const MAX_KEPT_OF_NAMESPACE = 100;
/**
 * The namespace for Events about objects without a namespace (`validateEvent`); tenants write into their own
 * namespaces.
 */
const CLUSTER_NAMESPACES: readonly string[] = ['default', 'kube-system'];
/** Maximum Events shown per namespace, whose users may write Events, while there are others to show. */
const MAX_OF_NAMESPACE = 50;
/**
 * Reasons that only our processes report for nodes, and their names, which the API server reserves for their accounts
 * (T-100).
 */
const OUR_REASONS: ReadonlySet<string> = new Set([
  EVENT_REASONS.evictionFailed,
  EVENT_REASONS.evictionIneffective,
  EVENT_REASONS.evictionLoop,
]);
const OURS: ReadonlySet<string> = new Set(Object.values(REPORTING_CONTROLLERS));
const MAX_NAME_LENGTH = 253;
const MAX_NOTE_LENGTH = 1_024;

/** An Event or a record as an entry, with its namespace: users of the namespace may have written the Event. */
export interface EventEntry extends TimelineEntry {
  readonly writtenIn: string;
}

/**
 * One Event (events.k8s.io/v1) as an entry, with a time not later than `now` (milliseconds since 1970). `undefined` for
 * an Event about something else, and for one about a Node in a namespace of users: everything in an Event is free text,
 * and the API server only guarantees its namespace, and our own reporters. Never throws.
 */
export function eventEntry(event: KubeObject, now: number): EventEntry | undefined {
  const reason = textOf(event['reason'], MAX_NAME_LENGTH) ?? '';
  const kind = kindOf(reason);
  const regarding = fieldsOf(event['regarding']);
  if (kind === undefined || !mayRegard(regarding, event)) return undefined;
  return {
    at: lastSeen(event, now),
    kind,
    isDryRun: reason === EVENT_REASONS.evictionDryRun,
    ...aboutOf(regarding),
    reason,
    why: textOf(event['note'], MAX_NOTE_LENGTH)?.trim() ?? '',
    from: reporterOf(event),
    count: integerOf(fieldsOf(event['series'])['count']) ?? 1,
    writtenIn: textOf(event.metadata.namespace, MAX_NAME_LENGTH) ?? '',
  };
}

/** A Node has no namespace, so the Event must not claim one for it. */
function mayRegard({ kind, namespace }: Fields, event: KubeObject): boolean {
  if (kind !== 'Node') return true;
  const isOfCluster = CLUSTER_NAMESPACES.includes(event.metadata.namespace ?? '');
  return (namespace === undefined || namespace === '') && isOfCluster && isByReporter(event);
}

/** Reasons that only our processes report for nodes count only with their names as reporter. */
function isByReporter(event: KubeObject): boolean {
  return !OUR_REASONS.has(textOf(event['reason'], MAX_NAME_LENGTH) ?? '') || OURS.has(reporterOf(event));
}

/** One Disruption as an entry. */
export function entryOfRecord(record: Disruption): EventEntry {
  const { pod, node, cause, removedAt, because, requestedBy } = record.spec;
  return {
    at: removedAt,
    kind: KIND_OF_CAUSE[cause],
    isDryRun: false,
    about: `Pod ${record.namespace}/${pod}`,
    namespace: record.namespace,
    node,
    reason: cause,
    why: because.text,
    from: requestedBy ?? '',
    count: record.outcome.count,
    writtenIn: record.namespace,
  };
}

function reporterOf(event: KubeObject): string {
  return textOf(event['reportingController'], MAX_NAME_LENGTH) ?? '';
}

/** A refusal by a kubelet is shown although nothing was removed: the pod lost its place to another one (S0-20). */
function kindOf(reason: string): TimelineKind | undefined {
  if (isKubeletRefusal(reason)) return 'problem';
  return Object.hasOwn(KINDS, reason) ? KINDS[reason] : undefined;
}

function aboutOf(reference: Fields): Pick<TimelineEntry, 'about' | 'namespace' | 'node'> {
  const kind = textOf(reference['kind'], MAX_NAME_LENGTH) ?? '';
  const namespace = textOf(reference['namespace'], MAX_NAME_LENGTH) ?? '';
  const name = textOf(reference['name'], MAX_NAME_LENGTH) ?? '';
  const about = `${kind} ${namespace === '' || kind === 'Node' ? name : `${namespace}/${name}`}`;
  return { about, namespace: kind === 'Node' ? '' : namespace, node: kind === 'Node' ? name : '' };
}

/** The sources of a timeline. */
export interface TimelineSources {
  readonly nodes: Iterable<NodeView>;
  readonly events: Iterable<EventEntry>;
  /** The recorded removals, from `recordedRemovals`. */
  readonly recorded: RecordedRemovals;
}

/** Removals with a record, including those whose Events have expired. */
export interface RecordedRemovals {
  readonly entries: readonly EventEntry[];
  /** Times by subject. */
  readonly times: ReadonlyMap<string, readonly number[]>;
}

export function recordedRemovals(records: Iterable<EventEntry>): RecordedRemovals {
  const entries = [...records];
  const times = new Map<string, number[]>();
  for (const { about, at } of entries) {
    const known = times.get(about);
    if (known === undefined) times.set(about, [at]);
    else known.push(at);
  }
  return { entries, times };
}

/**
 * Removals of pods, pressure and problems, newest first. Each removal is shown once: as its record; without one, as in
 * the agent's NodePressure, including dry runs; otherwise as in Events.
 */
export function timelineOf({ nodes, events, recorded }: TimelineSources): readonly TimelineEntry[] {
  const isNew = (entry: TimelineEntry): boolean => !isRecorded(entry, recorded);
  const evictions = [...nodes]
    .flatMap((node) => node.evictions.map((eviction) => evictionEntry(node.name, eviction)))
    .filter(isNew);
  const known = new Set(evictions.map(({ about }) => about));
  const others = [...events].filter((entry) => isNew(entry) && (!isOwnEviction(entry) || !known.has(entry.about)));
  const { first, rest } = sharedOut([...recorded.entries, ...others].sort(newestFirst));
  const shown = [...evictions, ...first].sort(newestFirst).slice(0, MAX_ENTRIES);
  return [...shown, ...rest.slice(0, MAX_ENTRIES - shown.length)].sort(newestFirst);
}

function isRecorded({ kind, isDryRun, about, at }: TimelineEntry, { times }: RecordedRemovals): boolean {
  if (isDryRun || !isRemoval(kind)) return false;
  return times.get(about)?.some((time) => Math.abs(time - at) <= SAME_REMOVAL_MS) ?? false;
}

/**
 * The first entries of every namespace, and the remaining ones, so that Events of one namespace cannot hide those of
 * others.
 */
function sharedOut(events: readonly EventEntry[]): Record<'first' | 'rest', readonly TimelineEntry[]> {
  const counts = new Map<string, number>();
  const [first, rest]: [TimelineEntry[], TimelineEntry[]] = [[], []];
  for (const { writtenIn, ...entry } of events) {
    const count = (counts.get(writtenIn) ?? 0) + 1;
    counts.set(writtenIn, count);
    (count <= MAX_OF_NAMESPACE ? first : rest).push(entry);
  }
  return { first, rest };
}

function newestFirst(a: TimelineEntry, b: TimelineEntry): number {
  return b.at - a.at;
}

function isOwnEviction({ kind, from }: TimelineEntry): boolean {
  return kind === 'eviction' && from === REPORTING_CONTROLLERS.agent;
}

function evictionEntry(node: string, eviction: EvictionView): TimelineEntry {
  const { pod, mode, outcome, stage, signal, requestedAt, why } = eviction;
  return {
    at: requestedAt ?? 0,
    kind: 'eviction',
    isDryRun: mode === 'DryRun',
    about: `Pod ${pod}`,
    namespace: pod.split('/')[0] ?? '',
    node,
    reason: [signal, stage, outcome].filter((part) => part !== '').join(', '),
    why,
    from: REPORTING_CONTROLLERS.agent,
    count: 1,
  };
}
