import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { KubeClient } from './client.ts';

/** What a part that works with the API server gets from its process. */
export interface ClientContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}
