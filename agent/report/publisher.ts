import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import type { SourcesShown } from './source-metrics.ts';
import type { Doubts } from './pressure-conditions.ts';
import { nodePressureStatus, type NodePressureStatus, type StatusContext } from './node-pressure-status.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import type { EvictionRecord, PassResult } from '#agent/decide/pass-result.ts';
import type { StatusWriter } from './status-writer.ts';

export interface PublisherPorts {
  readonly writer: StatusWriter;
  readonly agent: NodePressureStatus['agent'];
  readonly lastResult: () => PassResult | undefined;
  /** What the object said before this process wrote it; `undefined` until that has been read. */
  readonly previousStatus: () => PreviousStatus | undefined;
  readonly records: () => readonly EvictionRecord[];
  readonly doubts: () => Doubts;
  readonly sources: () => SourcesShown;
  readonly metrics: AgentMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** On a node that is well, gauges and status are worked out this often; in trouble, every time. */
const QUIET_MS = 5000;

/** Whether something is short or somebody on the way out: then every second counts. */
function isEventful({ decision: { assessment, state } }: PassResult): boolean {
  const { Enforce, DryRun } = state.evictions;
  const isUnderWay = Enforce.inflight.length > 0 || DryRun.inflight.length > 0;
  return assessment.trigger !== undefined || isUnderWay || state.pressure.observed.length > 0;
}

/** Brings gauges up to date and, when it is time, the NodePressure status; called once a second. Never rejects. */
export function createPublisher(ports: PublisherPorts): (signal: AbortSignal) => Promise<void> {
  const { writer, clock } = ports;
  let previous: StatusContext['previous'];
  let shownAtMs = -Infinity;
  let shownRecords: readonly EvictionRecord[] = [];
  let wasEventful = false;

  /** One more look after the trouble is over tells that it is; trouble between two looks has left a record. */
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
    // Written blindly, the history of a predecessor would be lost.
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
