import { type Backoff, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createPageSize } from './page-size.ts';
import { reflectorMetrics } from './reflector-metrics.ts';
import { readList } from '#shared/kube/client/read-list.ts';
import { readStreamedList, readWatch } from './read-watch.ts';
import { isFailure, type Plan, planAfter, type Reading, REFLECTOR_BACKOFF, type Step } from './reflector-plan.ts';
import { waitForTurn } from './reflector-pause.ts';
import { type ChangeListener, createStore } from './reflector-store.ts';
import type { Target } from './reflector-target.ts';
import { type Resource, resourceLabel } from '#shared/kube/resource.ts';

export interface ReflectorOptions<T> {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Keeps what is needed of an object; `undefined`, or throwing, keeps nothing. */
  readonly slim: (raw: KubeObject) => T | undefined;
  readonly clock: Clock;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Objects per page of a list. */
  readonly pageSize?: number;
  /** `stream` asks for the list as watch events; a server that cannot do that is asked for pages. */
  readonly listing?: 'pages' | 'stream';
  /** Between failures; REFLECTOR_BACKOFF where it is not said. */
  readonly backoff?: Backoff;
  /** Whether the copy is needed at this moment: then the server is asked again within a second. */
  readonly isUrgent?: () => boolean;
}

/** A live, slimmed copy of one kind of objects. */
export interface Reflector<T> {
  /** Lists and watches until `signal` aborts; never rejects and never ends by itself. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list is complete. */
  readonly synced: Promise<void>;
  isSynced(): boolean;
  /** By `namespace/name`, or `name` for cluster-scoped objects. */
  get(key: string): T | undefined;
  values(): Iterable<T>;
  readonly size: number;
  /** Calls back on every change; an error in the listener is logged and has no other effect. Returns how to stop. */
  onChange(listener: ChangeListener<T>): () => void;
  /** The monotonic time at which the server was last heard, undefined before the first word. */
  lastContactMs(): number | undefined;
  /** The resourceVersion up to which every change is in here; empty before the first list. */
  position(): string;
}

const never = (): boolean => false;
const PAGE_SIZE = 500;
/** A fresh list now and then heals what no watch can show: every 10 to 30 minutes. */
const SHORTEST_LIST_INTERVAL_MS = 600_000;
const LIST_INTERVAL_SPREAD_MS = 1_200_000;

/** A reflector on raw JSON, because the client library's informer stops after some errors. Nothing happens before `run`. */
export function createReflector<T>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock, random, log, resource } = options;
  const metrics = reflectorMetrics(options.metrics, resourceLabel(resource), clock);
  const store = createStore<T>({ slim: options.slim, onError: reportError });
  const synced = Promise.withResolvers<undefined>();
  let isSynced = false;
  let lastContactMs: number | undefined;
  let position = '';
  let listDueAt = Infinity;
  let streamsLists = options.listing === 'stream';

  const target: Target = {
    ...options,
    store,
    pageSize: createPageSize(options.pageSize ?? PAGE_SIZE),
    heard: () => {
      lastContactMs = clock.monotonic();
      metrics.heard();
    },
    listed: (resourceVersion) => {
      position = resourceVersion;
      listDueAt = clock.monotonic() + SHORTEST_LIST_INTERVAL_MS + random() * LIST_INTERVAL_SPREAD_MS;
      isSynced = true;
      synced.resolve(undefined);
    },
    moved: (resourceVersion) => void (position = resourceVersion),
  };

  function reportError(error: unknown, what: string): void {
    if (metrics.handlerFailed()) log.error({ err: error, resource: resource.plural }, `Reflector goes on: ${what}`);
  }

  async function run(signal: AbortSignal): Promise<void> {
    let plan: Plan = { step: 'list', failures: 0, retryAfterMs: 0 };
    while (!signal.aborted) {
      metrics.began(plan.step);
      const reading = await read(plan.step, signal);
      plan = planAfter(reading, plan.failures, clock.monotonic() >= listDueAt);
      if (isFailure(reading.ending)) await pause(plan, reading, signal);
    }
  }

  async function read(step: Step, signal: AbortSignal): Promise<Reading> {
    if (step === 'watch') return readWatch(target, position, signal);
    // Only the very first list may come from the server's cache: a later one must not show an older state.
    if (!streamsLists) return readList(target, isSynced ? undefined : '0', signal);
    const reading = await readStreamedList(target, signal);
    const isUnknown = reading.ending.kind === 'refused' && reading.ending.failure.kind === 'invalid';
    if (isUnknown) streamsLists = false;
    return reading;
  }

  async function pause(plan: Plan, { ending }: Reading, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { retryAfterMs } = plan;
    const delayMs = backoffDelay(options.backoff ?? REFLECTOR_BACKOFF, plan.failures - 1, random());
    metrics.restarted(ending.kind);
    log.warn(
      { resource: resource.plural, ending, next: plan.step, delayMs, retryAfterMs },
      'Reflector lost its stream',
    );
    await waitForTurn({ delayMs, retryAfterMs, isUrgent: options.isUrgent ?? never }, clock, signal);
  }

  return {
    run,
    synced: synced.promise,
    isSynced: () => isSynced,
    get: store.get,
    values: store.values,
    get size() {
      return store.size;
    },
    onChange: store.onChange,
    lastContactMs: () => lastContactMs,
    position: () => position,
  };
}
