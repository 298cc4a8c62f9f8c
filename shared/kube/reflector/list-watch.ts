import { type Backoff, backoffDelay } from '#shared/runtime/repeat.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { resourceLabel } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { readList } from './read-list.ts';
import { createPageSize, type Collection, type Target, type ObjectSink } from './reflector-target.ts';
import { type StreamFaults, streamFaultsOf } from './stream-faults.ts';
import { readStreamedList, readWatch } from './read-watch.ts';
import {
  type Ending,
  isFailure,
  type Plan,
  planAfter,
  type EndedReading,
  REFLECTOR_BACKOFF,
  type Step,
} from './reflector-plan.ts';

export interface ListWatchOptions extends Collection {
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly metrics?: Metrics;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /** `stream` requests the list as watch events; if the server does not support that, pages are used. */
  readonly listing?: 'pages' | 'stream';
  /**
   * Whether the very first list may come from the server's cache, which may be behind: for thousands of agents, whose
   * restart together must not load etcd. What decides for the cluster begins with what is true now.
   */
  readonly startsFromCache?: boolean;
  /** Pauses between failures; REFLECTOR_BACKOFF by default. */
  readonly backoff?: Backoff;
  /** Whether the copy is needed now: then the server is asked again within a second. */
  readonly isUrgent?: () => boolean;
  /** Reads together with the other readers of the same collection; alone if absent. */
  readonly streams?:
    { readonly add: (options: ListWatchOptions, sink: ObjectSink) => ListWatch | undefined } | undefined;
}

/** Keeps a sink equal to the objects of one kind. */
export interface ListWatch {
  /** Lists and watches until `signal` aborts; never rejects and never ends by itself. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list is complete. */
  readonly synced: Promise<void>;
  isSynced(): boolean;
  /** The monotonic time of the last contact with the server; undefined before the first. */
  lastContactMs(): number | undefined;
  /** The resourceVersion up to which every change is included; empty before the first list. */
  position(): string;
}

/** Reports an object that could not be stored. */
export type ReportError = (error: unknown, what: string) => void;

/** Other streams of the process that break in the same outage are counted, and not logged. */
const LOST = 'Reflector lost its stream';
const never = (): boolean => false;
const PAGE_SIZE = 500;
/** A fresh list from time to time corrects what no watch can show: every 10 to 30 minutes. */
const SHORTEST_LIST_INTERVAL_MS = 600_000;
const LIST_INTERVAL_SPREAD_MS = 1_200_000;

/** Reads one kind of objects into the sink that `openSink` opens. It does nothing before `run`. */
export function createListWatch<S extends ObjectSink>(
  options: ListWatchOptions,
  openSink: (report: ReportError) => S,
): { readonly listWatch: ListWatch; readonly sink: S } {
  const { clock, log, resource } = options;
  const metrics = reflectorMetrics(options.metrics, resourceLabel(resource), clock);
  const sink = openSink((error, what) => {
    if (metrics.handlerFailed())
      log.error({ err: error, resource: resource.plural }, `Reflector error, continuing: ${what}`);
  });
  return { listWatch: options.streams?.add(options, sink) ?? new SinkListWatch(options, sink, metrics), sink };
}

class SinkListWatch implements ListWatch {
  readonly #options: ListWatchOptions;
  readonly #metrics: ReflectorMetrics;
  readonly #target: Target;
  readonly #faults: StreamFaults;
  readonly #synced = Promise.withResolvers<undefined>();
  readonly synced = this.#synced.promise;
  #isSynced = false;
  #lastContactMs: number | undefined;
  #position = '';
  /** Whether a watch has brought anything since the last list. */
  #hasMoved = false;
  #listDueAt = Infinity;
  #streamsLists: boolean;

  constructor(options: ListWatchOptions, store: ObjectSink, metrics: ReflectorMetrics) {
    this.#options = options;
    this.#metrics = metrics;
    this.#faults = streamFaultsOf(options.client);
    this.#streamsLists = options.listing === 'stream';
    this.#target = {
      ...options,
      store,
      pageSize: createPageSize(options.pageSize ?? PAGE_SIZE),
      onActivity: () => this.#onActivity(),
      onListed: (resourceVersion) => this.#onListed(resourceVersion),
      onPosition: (resourceVersion) => this.#onPosition(resourceVersion),
    };
  }

  isSynced(): boolean {
    return this.#isSynced;
  }

  lastContactMs(): number | undefined {
    return this.#lastContactMs;
  }

  position(): string {
    return this.#position;
  }

  async run(signal: AbortSignal): Promise<void> {
    let plan: Plan = { step: 'list', failures: 0, retryAfterMs: 0 };
    while (!signal.aborted) {
      this.#metrics.began(plan.step);
      const reading = await this.#read(plan.step, signal);
      plan = planAfter(reading, plan.failures, this.#isListDue(reading));
      if (isFailure(reading)) await this.#pause(plan, reading, signal);
      else if (reading.ending.kind === 'silent') this.#metrics.restarted('silent');
    }
  }

  #onActivity(): void {
    this.#lastContactMs = this.#options.clock.monotonic();
    this.#metrics.onActivity();
  }

  #onPosition(resourceVersion: string): void {
    this.#position = resourceVersion;
    this.#hasMoved = true;
  }

  /**
   * From an API server that was restored from a backup, a watch brings nothing until the versions of before come again.
   * It cannot be told from a kind without changes since the server started, but only if bookmarks came before.
   */
  #isListDue({ ending, hasProgressed }: EndedReading): boolean {
    const hasFallenSilent = ending.kind === 'silent' && !hasProgressed && this.#hasMoved;
    return hasFallenSilent || this.#options.clock.monotonic() >= this.#listDueAt;
  }

  #onListed(resourceVersion: string): void {
    const { clock, random, resource } = this.#options;
    this.#position = resourceVersion;
    this.#hasMoved = false;
    this.#listDueAt = clock.monotonic() + SHORTEST_LIST_INTERVAL_MS + random() * LIST_INTERVAL_SPREAD_MS;
    this.#faults.worked(resource.plural);
    this.#isSynced = true;
    this.#synced.resolve(undefined);
  }

  async #read(step: Step, signal: AbortSignal): Promise<EndedReading> {
    if (step === 'watch') return readWatch(this.#target, this.#position, signal);
    // A later list must not show an older state.
    const isFromCache = this.#options.startsFromCache === true && !this.#isSynced;
    if (!this.#streamsLists) return readList(this.#target, isFromCache ? '0' : undefined, signal);
    const reading = await readStreamedList(this.#target, signal);
    const isUnknown = reading.ending.kind === 'refused' && reading.ending.failure.kind === 'invalid';
    if (isUnknown) this.#streamsLists = false;
    return reading;
  }

  async #pause(plan: Plan, { ending }: EndedReading, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { clock, log, resource, random, backoff = REFLECTOR_BACKOFF, isUrgent = never } = this.#options;
    const { retryAfterMs, step: next } = plan;
    const delayMs = backoffDelay(backoff, plan.failures - 1, random());
    this.#metrics.restarted(ending.kind);
    if (this.#faults.isNew(resource.plural, ending, clock.monotonic()))
      log.warn({ resource: resource.plural, ending, next, delayMs, retryAfterMs }, LOST);
    await waitBeforeRestart({ delayMs, retryAfterMs, isUrgent }, clock, signal);
  }
}

/** How long to wait before the next list or watch, and what ends the wait early. Milliseconds. */
interface ReflectorPause {
  readonly delayMs: number;
  /** The time that the server asked clients to wait: nothing shortens it. */
  readonly retryAfterMs: number;
  /** Checked every second; true ends the pause. */
  readonly isUrgent: () => boolean;
}

/** Even urgent requests are not sent more often than this. */
const STEP_MS = 1000;

/** Waits until the delay is over, the request is urgent, or the signal aborts. */
async function waitBeforeRestart(
  { delayMs, retryAfterMs, isUrgent }: ReflectorPause,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.monotonic() + Math.max(delayMs, retryAfterMs);
  await clock.sleep(Math.max(retryAfterMs, Math.min(delayMs, STEP_MS)), signal);
  for (let left = leftUntil(until, clock); left > 0 && !signal.aborted && !isUrgent(); left = leftUntil(until, clock))
    await clock.sleep(Math.min(left, STEP_MS), signal);
}

function leftUntil(until: number, clock: Pick<Clock, 'monotonic'>): number {
  return until - clock.monotonic();
}

/** Metrics for the progress and the failures of a reflector. */
export interface ReflectorMetrics {
  began(step: Step): void;
  onActivity(): void;
  restarted(reason: Ending['kind']): void;
  /** Counts an error of a slimming function or a listener; true if it should be logged. */
  handlerFailed(): boolean;
}

const GAUGE_PERIOD_MS = 1_000;
const LOG_PERIOD_MS = 60_000;

/** The metrics of one reflector, labelled by resource. */
export function reflectorMetrics(metrics: Metrics | undefined, resource: string, clock: Clock): ReflectorMetrics {
  const lists = metrics?.counter('plimsoll_reflector_lists_total', 'Lists started', ['resource']);
  const watches = metrics?.counter('plimsoll_reflector_watches_total', 'Watches started', ['resource']);
  const restarts = metrics?.counter(
    'plimsoll_reflector_restarts_total',
    'Lists and watches that failed and were restarted after a pause',
    ['resource', 'reason'],
  );
  const lastEvent = metrics?.gauge(
    'plimsoll_reflector_last_event_timestamp_seconds',
    'Time of the last contact with the API server',
    ['resource'],
  );
  const handlerErrors = metrics?.counter(
    'plimsoll_reflector_handler_errors_total',
    'Objects that could not be stored and listeners that failed',
    ['resource'],
  );
  const setGauge = atMostEvery(GAUGE_PERIOD_MS, clock);
  const mayLog = atMostEvery(LOG_PERIOD_MS, clock);
  return {
    began: (step) => (step === 'list' ? lists : watches)?.add({ resource }),
    onActivity: () => {
      if (setGauge()) lastEvent?.set(clock.now() / 1_000, { resource });
    },
    restarted: (reason) => restarts?.add({ resource, reason }),
    handlerFailed: () => {
      handlerErrors?.add({ resource });
      return mayLog();
    },
  };
}

/** True at the first call, then at most once per period: a watch may send thousands of events a second. */
function atMostEvery(periodMs: number, clock: Clock): () => boolean {
  let lastAt = -Infinity;
  return () => {
    if (clock.monotonic() - lastAt < periodMs) return false;
    lastAt = clock.monotonic();
    return true;
  };
}
