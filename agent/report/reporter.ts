import type { EvictionMessage } from '#shared/domain/eviction/eviction-message.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { AgentLog } from './agent-log.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import type { Eviction } from '#agent/decide/eviction.ts';
import { isOwnerLimit } from '#agent/decide/eviction/owner-limit.ts';
import { describeEviction } from './describe-eviction.ts';
import { joinRecords, noteEnds, noteOutcome, noteRequest } from './eviction-records.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import type { Attempt, EvictionRecord, PassResult } from '#agent/decide/pass-result.ts';
import {
  type NodeReference,
  recordIneffective,
  recordOutcome,
  recordOwnerLimit,
  recordThresholdMet,
} from './eviction-events.ts';

export interface ReporterPorts {
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly log: Pick<AgentLog, 'showPass' | 'showOutcome'>;
  readonly metrics: AgentMetrics;
  readonly node: () => NodeReference;
  readonly containers: NodeSource['containers'];
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Reports evictions and gates in Events, log, metrics and status. */
export interface Reporter {
  readonly requested: (eviction: Eviction) => void;
  readonly answered: (attempt: Attempt) => void;
  readonly passed: (result: PassResult) => void;
  /** Appends the records of a previous process to those of this one. */
  readonly restoreRecords: (earlier: readonly EvictionRecord[]) => void;
  /** Newest first. */
  readonly records: () => readonly EvictionRecord[];
}

export function createReporter({ recorder, log, metrics, node, containers, clock }: ReporterPorts): Reporter {
  let records: readonly EvictionRecord[] = [];
  let wasStopped = false;
  let limited = '';
  const messages = new Map<string, EvictionMessage>();

  function requested(eviction: Eviction): void {
    messages.set(eviction.pod.uid, describeEviction(eviction, containers(eviction.pod.uid)));
    records = noteRequest(records, eviction, clock.now());
    recordThresholdMet(recorder, node(), eviction);
  }

  function answered({ eviction, outcome }: Attempt): void {
    const { mode, pod } = eviction;
    const { uid } = pod;
    const message = messages.get(uid) ?? describeEviction(eviction, []);
    records = noteOutcome(records, { uid, mode }, outcome.kind);
    metrics.countAttempt({ eviction, outcome }, clock.monotonic());
    log.showOutcome(eviction, outcome, message);
    recordOutcome(recorder, eviction, outcome, message);
  }

  function reportCircuitBreaker({ decision: { assessment } }: PassResult): void {
    const stopped = assessment.closedGates.find(({ code }) => code === 'Ineffective');
    if (stopped !== undefined && !wasStopped) recordIneffective(recorder, node(), stopped.text);
    wasStopped = stopped !== undefined;
  }

  function reportOwnerLimit({ decision: { assessment } }: PassResult): void {
    const limit = assessment.closedGates.find(isOwnerLimit);
    const uid = String(limit?.facts['uid'] ?? '');
    if (limit !== undefined && uid !== limited) recordOwnerLimit(recorder, limit, assessment.trigger?.mode ?? 'DryRun');
    // Other gates may close between two passes that this limit holds back.
    if (limit !== undefined || assessment.trigger === undefined) limited = uid;
  }

  function passed(result: PassResult): void {
    records = noteEnds(records, result.decision.state, clock.now());
    for (const uid of messages.keys())
      if (records.every(({ pod, endedAt }) => pod.uid !== uid || endedAt !== undefined)) messages.delete(uid);
    log.showPass(result);
    reportCircuitBreaker(result);
    reportOwnerLimit(result);
  }
  function restoreRecords(earlier: readonly EvictionRecord[]): void {
    records = joinRecords(records, earlier);
  }
  return { restoreRecords, requested, answered, passed, records: () => records };
}
