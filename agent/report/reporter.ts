import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { attemptId } from '#agent/attempts.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import { LEFT_TO_KUBELET } from '#shared/decide/eviction/ranking/held-cause.ts';
import { isOwnerLimit } from '#shared/decide/eviction/eviction-gates.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { type Attempt, type EvictionRecord, isCounted, type PassResult } from '#shared/decide/eviction/decide.ts';
import { type Instant, ownerKeyOf } from '#shared/domain/pod/pod.ts';
import type { AgentState } from '#shared/decide/eviction/agent-state.ts';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import type { AgentMetrics } from './agent-metrics.ts';
import {
  describeEviction,
  type EvictionMessage,
  ineffectiveEvent,
  type NodeReference,
  outcomeEvent,
  notEvictedEvent,
  thresholdMetEvent,
} from './eviction-events.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Log } from '#shared/runtime/log.ts';
import { LOG } from '#agent/messages.ts';

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
    recorder.record(thresholdMetEvent(node(), eviction));
  }

  function answered({ eviction, outcome }: Attempt): void {
    const { mode, pod } = eviction;
    const { uid } = pod;
    const message = messages.get(uid) ?? describeEviction(eviction, []);
    records = noteOutcome(records, { uid, mode }, outcome.kind);
    metrics.countAttempt({ eviction, outcome }, clock.monotonic());
    log.showOutcome(eviction, outcome, message);
    const event = outcomeEvent(eviction, outcome, message);
    if (event !== undefined) recorder.record(event);
  }

  function reportCircuitBreaker({ decision: { assessment } }: PassResult): void {
    const stopped = assessment.closedGates.find(({ code }) => code === 'Ineffective');
    if (stopped !== undefined && !wasStopped) recorder.record(ineffectiveEvent(node(), stopped.text));
    wasStopped = stopped !== undefined;
  }

  function reportHeldPod({ decision: { assessment } }: PassResult): void {
    const limit = assessment.closedGates.find((gate) => isOwnerLimit(gate) || gate.code === LEFT_TO_KUBELET);
    const uid = String(limit?.facts['uid'] ?? '');
    if (limit !== undefined && uid !== limited)
      recorder.record(notEvictedEvent(limit, assessment.trigger?.mode ?? 'DryRun'));
    // Other gates may close between two passes that this one holds back.
    if (limit !== undefined || assessment.trigger === undefined) limited = uid;
  }

  function passed(result: PassResult): void {
    records = noteEnds(records, result.decision.state, clock.now());
    for (const uid of messages.keys())
      if (records.every(({ pod, endedAt }) => pod.uid !== uid || endedAt !== undefined)) messages.delete(uid);
    log.showPass(result);
    reportCircuitBreaker(result);
    reportHeldPod(result);
  }
  function restoreRecords(earlier: readonly EvictionRecord[]): void {
    records = joinRecords(records, earlier);
  }
  return { restoreRecords, requested, answered, passed, records: () => records };
}

/** Largest number of records in the status. */
const MAX_RECORDS = 20;

/**
 * The records with one more requested eviction; a second request for the same pod updates its record, and takes the place
 * of one that failed: a pod that is refused once a second would drive out what the windows count after a restart.
 */
export function noteRequest(
  records: readonly EvictionRecord[],
  eviction: Eviction,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const { pod, signal, stage, mode } = eviction;
  const because = withStanding(eviction);
  const again = records.findIndex((each) => each.pod.uid === pod.uid && each.mode === mode);
  if (eviction.isShortening && again >= 0)
    return records.map((each, at) => (at === again ? { ...each, stage, because } : each));
  const record: EvictionRecord = {
    pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
    owner: ownerKeyOf(pod),
    signal,
    stage,
    mode,
    outcome: 'requested',
    startedAt: pod.status.startTime,
    requestedAt: wallNow,
    endedAt: undefined,
    because,
    decision: attemptId(eviction),
  };
  const others = records.filter((each) => isCounted(each) || each.pod.uid !== pod.uid || each.mode !== mode);
  return bounded([record, ...others]);
}

/** The oldest that failed go first. */
function bounded(records: readonly EvictionRecord[]): readonly EvictionRecord[] {
  if (records.length <= MAX_RECORDS) return records;
  return bounded(
    records.toSpliced(
      records.findLastIndex((each) => !isCounted(each)),
      1,
    ),
  );
}

/** Why the node was short, and what the pod used: a record outlives the report of the node. */
function withStanding({ because, standing }: Eviction): Because {
  if (standing === undefined) return because;
  const text = `${because.text}; the pod ${standing.text}`;
  return { code: because.code, text, facts: { ...standing.facts, ...because.facts } };
}

/** The records of this process, then those of the previous one, up to the limit. */
function joinRecords(
  records: readonly EvictionRecord[],
  earlier: readonly EvictionRecord[],
): readonly EvictionRecord[] {
  return bounded([...records, ...earlier]);
}

/** The records after an answer about the newest request for a pod in one mode. */
export function noteOutcome(
  records: readonly EvictionRecord[],
  { uid, mode }: { readonly uid: string; readonly mode: Mode },
  outcome: AttemptOutcome['kind'],
): readonly EvictionRecord[] {
  const index = records.findIndex((record) => record.pod.uid === uid && record.mode === mode);
  return records.map((record, at) => (at === index ? { ...record, outcome } : record));
}

/** The records with the end times of finished evictions; the same list if none finished. */
export function noteEnds(
  records: readonly EvictionRecord[],
  { evictions }: Pick<AgentState, 'evictions'>,
  wallNow: Instant,
): readonly EvictionRecord[] {
  const underWay = new Set(
    [...evictions.Enforce.inflight, ...evictions.DryRun.inflight].map(({ mode, uid }) => `${mode} ${uid}`),
  );
  const hasEnded = ({ endedAt, mode, pod }: EvictionRecord): boolean =>
    endedAt === undefined && !underWay.has(`${mode} ${pod.uid}`);
  if (!records.some(hasEnded)) return records;
  return records.map((record) => (hasEnded(record) ? { ...record, endedAt: wallNow } : record));
}

/** The decision log: one line for each change, with the numbers behind it. */
export interface AgentLog {
  readonly showPass: (result: PassResult) => void;
  /** Logs when the fallback source comes into use or is dropped. */
  readonly showFallback: (because: Because | undefined) => void;
  readonly showOutcome: (eviction: Eviction, outcome: AttemptOutcome, message: EvictionMessage) => void;
}

function codes(becauses: readonly Because[]): string {
  return becauses.map(({ code }) => code).join(',');
}

export function createAgentLog(log: Log): AgentLog {
  let shortage = '';
  let closedGates = '';
  let fallback = '';

  function showShortage({ trigger }: PassResult['decision']['assessment']): void {
    const now = trigger === undefined ? '' : `${trigger.signal} ${trigger.stage}`;
    if (now === shortage) return;
    shortage = now;
    if (trigger === undefined) log.info(LOG.resolved);
    else log.warn({ because: trigger.because, stage: trigger.stage, mode: trigger.mode }, LOG.underPressure);
  }

  function showClosedGates({ trigger, closedGates: current }: PassResult['decision']['assessment']): void {
    const now = trigger === undefined ? '' : codes(current);
    if (now === closedGates) return;
    closedGates = now;
    if (now !== '') log.info({ holds: current }, LOG.heldBack);
  }

  function showFallback(because: Because | undefined): void {
    const now = because?.text ?? '';
    if (now === fallback) return;
    fallback = now;
    if (because === undefined) log.info(LOG.kernelBack);
    else log.warn({ because }, LOG.usingKubelet);
  }

  function showPass({ decision: { assessment } }: PassResult): void {
    showShortage(assessment);
    showClosedGates(assessment);
  }

  function showOutcome(eviction: Eviction, outcome: AttemptOutcome, { text }: EvictionMessage): void {
    const { pod, signal, stage, mode, graceSeconds, because } = eviction;
    const facts = {
      pod: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
      signal,
      stage,
      mode,
      graceSeconds,
    };
    log.info(
      { ...facts, outcome, because, message: text },
      mode === 'DryRun' ? LOG.evictionPretended : LOG.evictionAnswered,
    );
  }
  return { showPass, showFallback, showOutcome };
}
