import type { Clock } from '#shared/runtime/clock.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Ending, Step } from './reflector-plan.ts';

/** How a reflector shows that it lives, and that it struggles. */
export interface ReflectorMetrics {
  began(step: Step): void;
  heard(): void;
  restarted(reason: Ending['kind']): void;
  /** Counts an error of a slimming function or a listener; true when it is time to log one. */
  handlerFailed(): boolean;
}

const GAUGE_PERIOD_MS = 1_000;
const LOG_PERIOD_MS = 60_000;

/** The metrics of one reflector, labelled by resource. */
export function reflectorMetrics(metrics: Metrics | undefined, resource: string, clock: Clock): ReflectorMetrics {
  const lists = metrics?.counter('plimsoll_reflector_lists_total', 'Lists begun', ['resource']);
  const watches = metrics?.counter('plimsoll_reflector_watches_total', 'Watches begun', ['resource']);
  const restarts = metrics?.counter(
    'plimsoll_reflector_restarts_total',
    'Lists and watches that failed and were begun again after a pause',
    ['resource', 'reason'],
  );
  const lastEvent = metrics?.gauge(
    'plimsoll_reflector_last_event_timestamp_seconds',
    'When the API server was last heard',
    ['resource'],
  );
  const handlerErrors = metrics?.counter(
    'plimsoll_reflector_handler_errors_total',
    'Objects that could not be taken in and listeners that failed',
    ['resource'],
  );
  const setGauge = atMostEvery(GAUGE_PERIOD_MS, clock);
  const mayLog = atMostEvery(LOG_PERIOD_MS, clock);
  return {
    began: (step) => (step === 'list' ? lists : watches)?.add({ resource }),
    heard: () => {
      if (setGauge()) lastEvent?.set(clock.now() / 1_000, { resource });
    },
    restarted: (reason) => restarts?.add({ resource, reason }),
    handlerFailed: () => {
      handlerErrors?.add({ resource });
      return mayLog();
    },
  };
}

/** True at the first call, then at most once per period: a watch brings thousands of events a second. */
function atMostEvery(periodMs: number, clock: Clock): () => boolean {
  let lastAt = -Infinity;
  return () => {
    if (clock.monotonic() - lastAt < periodMs) return false;
    lastAt = clock.monotonic();
    return true;
  };
}
