import { randomUUID } from 'node:crypto';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { CounterMetric, Metrics } from '#shared/runtime/metrics.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { EVENTS } from '#shared/kube/resource.ts';
import { type BucketSize, fullBucket, takeToken, type TokenBucket } from '#shared/kube/client/token-bucket.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { microTime } from '#shared/kube/kube-object.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';

export interface EventRecorderOptions extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  /** `plimsoll.dev/agent` …: becomes `reportingController`. */
  readonly component: string;
  /** The reporting node or pod. */
  readonly instance: string;
  readonly metrics?: Metrics;
  /** Reasons that the configuration disables. */
  readonly omit?: readonly string[];
}

/** Writes Events in the background. Callers neither wait for an Event nor fail with it. */
export interface EventRecorder {
  record(record: EventRecord): void;
  /** Resolves when all recorded Events are written or given up. */
  flush(): Promise<void>;
}

/** client-go's spam filter: 25 at once, then one each 5 minutes, per object. */
const BUCKET: BucketSize = { burst: 25, refillMs: 300_000 };
/** A repetition within this time joins the series. */
const SERIES_LIFE_MS = 360_000;
const MAX_WAITING = 1_000;
const MAX_REMEMBERED = 5_000;

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
  lastAt: number;
}

/** A recorder with series and a rate limit per object. It bounds memory, and makes one request at a time. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, log } = options;
  const reporter = { controller: options.component, instance: options.instance };
  const omitted = new Set(options.omit);
  const dropped = droppedCounter(options.metrics);
  const isWithinLimit = createLimit(clock);
  const seriesByKey = new Map<string, Series>();
  const waiting: EventRecord[] = [];
  let writing = Promise.resolve();

  function record(event: EventRecord): void {
    if (omitted.has(event.reason)) return;
    if (!isWithinLimit(event)) hold(event);
    else if (waiting.length >= MAX_WAITING) drop('queue-full');
    else enqueue(event);
  }

  /** Above the limit, a repetition is still counted, and the next write of its series reports it. */
  function hold(event: EventRecord): void {
    const series = seriesByKey.get(seriesKey(event));
    if (series === undefined) drop('rate-limit');
    else series.count += 1;
  }

  function enqueue(event: EventRecord): void {
    waiting.push(event);
    writing = writing.then(writeNext);
  }

  async function writeNext(): Promise<void> {
    const event = waiting.shift();
    if (event === undefined) return;
    const outcome = await write(event);
    faultLog(log, 'Event not written').answered(event.reason, outcome);
    if (outcome.kind !== 'ok') drop('refused');
  }

  async function write(event: EventRecord): Promise<Outcome<unknown>> {
    const key = seriesKey(event);
    const series = seriesByKey.get(key);
    if (series === undefined || clock.monotonic() - series.lastAt > SERIES_LIFE_MS) return writeNew(key, event);
    const continued = await continueSeries(series);
    // The API server forgets Events after an hour.
    return continued.kind === 'notFound' ? writeNew(key, event) : continued;
  }

  async function writeNew(key: string, event: EventRecord): Promise<Outcome<unknown>> {
    const namespace = eventNamespace(event);
    const object = newEvent(event, reporter, clock.now(), randomUUID());
    const written = await createObject(client, { resource: EVENTS, namespace }, object);
    if (written.kind === 'ok') {
      const series = { name: object.metadata.name, namespace, count: 1, lastAt: clock.monotonic() };
      putBounded(seriesByKey, MAX_REMEMBERED, [key, series]);
    }
    return written;
  }

  function continueSeries(series: Series): Promise<Outcome<unknown>> {
    series.count += 1;
    series.lastAt = clock.monotonic();
    const address = { resource: EVENTS, namespace: series.namespace, name: series.name };
    return patchObject(client, address, seriesPatch(series.count, clock.now()), { type: 'merge' });
  }

  function drop(cause: string): void {
    dropped?.add({ cause });
  }

  return { record, flush: () => writing };
}

/** Whether an Event is within the limit of the object that it regards; counts it if so. */
function createLimit(clock: Pick<EventRecorderOptions['clock'], 'monotonic'>): (event: EventRecord) => boolean {
  const buckets = new Map<string, TokenBucket>();
  return ({ regarding }) => {
    const now = clock.monotonic();
    const key = referenceKey(regarding);
    const left = takeToken(buckets.get(key) ?? fullBucket(BUCKET, now), BUCKET, now);
    if (left !== undefined) putBounded(buckets, MAX_REMEMBERED, [key, left]);
    return left !== undefined;
  };
}

function droppedCounter(metrics: Metrics | undefined): CounterMetric | undefined {
  return metrics?.counter('plimsoll_events_dropped_total', 'Events that were not written', ['cause']);
}

/** The subject of an Event, for `regarding` and `related`. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** A pod as the subject of an Event. */
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
  /** The action done or tried, in CamelCase. */
  readonly action: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly related?: ObjectReference;
}

/** The reporter: `reportingController` and `reportingInstance`. */
export interface EventReporter {
  readonly controller: string;
  readonly instance: string;
}

const MAX_NOTE_BYTES_LENGTH = 1_024;

/** Two records with the same key are repetitions: they become a series of one Event. */
function seriesKey(record: EventRecord): string {
  const { regarding, related, type, reason, note, action } = record;
  return JSON.stringify([referenceKey(regarding), related && referenceKey(related), type, reason, note, action]);
}

/** Identifies an object, even one without a UID. */
function referenceKey({ kind, namespace, name, uid }: ObjectReference): string {
  return [kind, namespace, name, uid].join('/');
}

/** The events.k8s.io/v1 Event for a first occurrence. `id` makes the name unique among the object's Events. */
function newEvent(record: EventRecord, reporter: EventReporter, nowMs: number, id: string): EventObject {
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
    note: cutAtBytes(note, MAX_NOTE_BYTES_LENGTH),
  };
}

export interface EventObject extends Readonly<Record<string, unknown>> {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** The merge patch that turns an Event into a series, or continues one. */
function seriesPatch(count: number, nowMs: number): object {
  return { series: { count, lastObservedTime: microTime(nowMs) } };
}

/** Events about cluster-scoped objects are in namespace `default`, as the API server requires. */
function eventNamespace({ regarding }: EventRecord): string {
  return regarding.namespace ?? 'default';
}

/** The longest prefix of a text that fits, without splitting a character. */
function cutAtBytes(text: string, longest: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= longest) return text;
  let end = longest;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
