import { type Backoff, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { NodePressureStatus } from '#shared/api/node-pressure.ts';
import { isStatusDue, validForMs, type Written } from './status-pace.ts';
import { type StatusTarget, writeStatus } from './write-status.ts';
import { LOG } from '#agent/messages.ts';

export interface StatusWriterPorts {
  readonly target: StatusTarget;
  /** Longest time between two writes on a quiet node. */
  readonly periodMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** Writes the status of this node's NodePressure when it is due. */
export interface StatusWriter {
  /** Never rejects. */
  readonly write: (status: NodePressureStatus, signal: AbortSignal) => Promise<void>;
  readonly hasWritten: () => boolean;
  /** Generation of the object at the last write. */
  readonly generation: () => number | undefined;
}

/** Backs off so that thousands of agents do not retry every second against a failing API server. */
const AFTER_FAILURE: Backoff = { initialMs: 2000, maxMs: 30_000, factor: 2, jitter: 0.5 };

/** Outcome of the writes so far. */
interface Past {
  readonly written: Written | undefined;
  readonly generation: number | undefined;
  readonly failures: number;
  readonly notBeforeMs: number;
}

const NOTHING_WRITTEN: Past = { written: undefined, generation: undefined, failures: 0, notBeforeMs: -Infinity };

/** Creates a writer that has written nothing yet. */
export function createStatusWriter({ target, periodMs, clock, random, log }: StatusWriterPorts): StatusWriter {
  let past = NOTHING_WRITTEN;

  function succeeded(status: NodePressureStatus, generation: number | undefined): Past {
    const written = { status, atMs: clock.monotonic(), validMs: validForMs(periodMs, random()) };
    return { ...NOTHING_WRITTEN, written, generation };
  }

  function failed(kind: string, message: string): Past {
    if (past.failures === 0) log.warn({ kind, message }, LOG.statusFailed);
    const notBeforeMs = clock.monotonic() + backoffDelay(AFTER_FAILURE, past.failures, random());
    return { ...past, failures: past.failures + 1, notBeforeMs };
  }

  async function write(status: NodePressureStatus, signal: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    if (now < past.notBeforeMs || !isStatusDue(status, past.written, now)) return;
    const outcome = await writeStatus(target, status, signal);
    past =
      outcome.kind === 'ok'
        ? succeeded(status, outcome.object.metadata.generation)
        : failed(outcome.kind, outcome.message);
  }
  return { write, hasWritten: () => past.written !== undefined, generation: () => past.generation };
}
