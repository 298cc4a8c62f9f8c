import type { Pod } from '#shared/domain/pod/pod.ts';
import { microTime } from '#shared/kube/kube-object.ts';

/** What an Event is about, as `regarding` and `related` hold it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** A pod as Events refer to it. */
export function podReference({ namespace, name, uid }: Pick<Pod, 'namespace' | 'name' | 'uid'>): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
}

export interface EventRecord {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, at most 128 characters. */
  readonly reason: string;
  /** A sentence; cut at 1024 bytes, the API server's limit. */
  readonly note: string;
  /** What was done or tried, CamelCase. */
  readonly action: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly related?: ObjectReference;
}

/** Who reports: `reportingController` and `reportingInstance`. */
export interface Reporter {
  readonly controller: string;
  readonly instance: string;
}

const LONGEST_NOTE_BYTES = 1_024;

/** Two records with one key are one happening that repeats: they become a series of one Event. */
export function seriesKey(record: EventRecord): string {
  const { regarding, related, type, reason, note, action } = record;
  return JSON.stringify([referenceKey(regarding), related && referenceKey(related), type, reason, note, action]);
}

/** Names an object also where it has no UID. */
export function referenceKey({ kind, namespace, name, uid }: ObjectReference): string {
  return [kind, namespace, name, uid].join('/');
}

/** The events.k8s.io/v1 Event of a first happening. `id` makes the name unique among the object's events. */
export function newEvent(record: EventRecord, reporter: Reporter, nowMs: number, id: string): EventObject {
  const { regarding, related, type, reason, note, action, annotations } = record;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: {
      name: `${regarding.name.slice(0, 200)}.${id}`,
      namespace: eventNamespace(record),
      ...(annotations === undefined ? {} : { annotations }),
    },
    eventTime: microTime(nowMs),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance,
    regarding,
    ...(related === undefined ? {} : { related }),
    type,
    reason,
    action,
    note: cutAtBytes(note, LONGEST_NOTE_BYTES),
  };
}

export interface EventObject extends Readonly<Record<string, unknown>> {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The merge patch that turns an Event into a series, or carries one on. */
export function seriesPatch(count: number, nowMs: number): object {
  return { series: { count, lastObservedTime: microTime(nowMs) } };
}

/** Events about cluster-scoped objects live in `default`, as the API server demands. */
export function eventNamespace({ regarding }: EventRecord): string {
  return regarding.namespace ?? 'default';
}

/** The longest start of a text that fits, never half a character. */
function cutAtBytes(text: string, longest: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= longest) return text;
  let end = longest;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
