import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { isSilent } from '#agent/decide/readiness-gates.ts';

/** When the API server last answered any request of this process. Times are monotonic milliseconds. */
export interface ApiContact {
  /** Called with every answer, such as the start of a watch. */
  readonly answered: () => void;
  /** The later of an answer and `watchedMs`, when a watch last received something; `undefined` before the first. */
  readonly lastMs: (watchedMs: number | undefined) => number | undefined;
  /** After a long silence, and while an answer is urgent, sends any request; never rejects. */
  readonly probe: (client: KubeClient, watchedMs: number | undefined, signal: AbortSignal) => Promise<void>;
}

/** Every account may read it, and it costs the API server almost nothing. */
const PROBED_PATH = '/version';
/** A connection that an outage left half open must not hold the next probe. */
const PROBE_TIMEOUT_MS = 900;

/** An idle watch may receive nothing for minutes, whatever its bookmark interval; an answer ends an outage at once. */
export function createApiContact(clock: Pick<Clock, 'monotonic'>, isUrgent: () => boolean): ApiContact {
  let answeredMs: number | undefined;

  function lastMs(watchedMs: number | undefined): number | undefined {
    const known = [answeredMs, watchedMs].filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  }

  async function probe(client: KubeClient, watchedMs: number | undefined, signal: AbortSignal): Promise<void> {
    if (!isUrgent() || !isSilent(clock.monotonic(), lastMs(watchedMs))) return;
    await client.request({ path: PROBED_PATH, timeoutMs: PROBE_TIMEOUT_MS, signal });
  }

  return { answered: () => void (answeredMs = clock.monotonic()), lastMs, probe };
}
