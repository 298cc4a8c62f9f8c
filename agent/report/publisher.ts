import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import type { SourcesShown } from './source-metrics.ts';
import type { Doubts } from './pressure-conditions.ts';
import { nodePressureStatus, type StatusContext } from './node-pressure-status.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import type { EvictionRecord, PassResult } from '#agent/decide/decide.ts';
import type { StatusWriter } from './status-writer.ts';

export interface PublisherPorts {
  readonly writer: StatusWriter;
  readonly agent: StatusContext['agent'];
  readonly lastResult: () => PassResult | undefined;
  /** The status before this process wrote it; `undefined` until it has been read. */
  readonly previousStatus: () => PreviousStatus | undefined;
  readonly records: () => readonly EvictionRecord[];
  readonly doubts: () => Doubts;
  readonly sources: () => SourcesShown;
  readonly metrics: AgentMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** On a quiet node, gauges and status are computed this often; during a shortage, every time. */
const QUIET_MS = 5000;

/** Whether a resource is short or an eviction is in flight, so that the status must be current. */
function isEventful({ decision: { assessment, state } }: PassResult): boolean {
  const { Enforce, DryRun } = state.evictions;
  const isUnderWay = Enforce.inflight.length > 0 || DryRun.inflight.length > 0;
  return assessment.trigger !== undefined || isUnderWay || state.pressure.observed.length > 0;
}

/** Updates gauges and, when it is due, the NodePressure status; called once a second. Never rejects. */
export function createPublisher(ports: PublisherPorts): (signal: AbortSignal) => Promise<void> {
  const { writer, clock } = ports;
  let previous: StatusContext['previous'];
  let shownAtMs = -Infinity;
  let shownRecords: readonly EvictionRecord[] = [];
  let wasEventful = false;

  /** One more update after a shortage reports its end; a shortage between two updates has left a record. */
  function isRestful(result: PassResult): boolean {
    const isQuiet = !isEventful(result) && !wasEventful && ports.records() === shownRecords && writer.hasWritten();
    wasEventful = isEventful(result);
    return isQuiet && clock.monotonic() - shownAtMs < QUIET_MS;
  }

  return async (signal) => {
    const result = ports.lastResult();
    if (result === undefined || isRestful(result)) return;
    shownAtMs = clock.monotonic();
    shownRecords = ports.records();
    ports.metrics.show(result, ports.sources(), clock.monotonic());
    const previousStatus = ports.previousStatus();
    // Writing before reading would lose the history of the previous process.
    if (previousStatus === undefined) return;
    const status = nodePressureStatus(result, {
      agent: ports.agent,
      records: ports.records(),
      doubts: ports.doubts(),
      wallOffsetMs: clock.now() - clock.monotonic(),
      generation: writer.generation(),
      previous: previous ?? previousStatus,
    });
    previous = status;
    await writer.write(status, signal);
  };
}
