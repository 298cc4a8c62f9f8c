import type { Because } from '#shared/domain/base/because.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide, type EvictionRecord, type PassResult, restoreState } from '#shared/decide/eviction/decide.ts';
import {
  arrivals,
  type NodeSnapshot,
  type ObservedNode,
  indexPods,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import {
  advanceHeadroomTrend,
  leastHeadroom,
  NO_HEADROOM_TREND,
  pollingInterval,
  type Periods,
  areProcessesShort,
  depthNow,
} from '#shared/decide/eviction/memory-trend.ts';
import type { NodePods } from './observe/api-server/node-pods.ts';
import type { PreviousStatus } from './observe/api-server/node-pressure-object.ts';
import { decidingObservations } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { restoreActivations, withKeptThresholds } from '#shared/decide/eviction/shortage/rule-activation.ts';
import { type AttemptPorts, createAttempts } from './attempts.ts';
import type { NodeSource } from './observe/node/node-source.ts';
import type { AgentMetrics } from './report/agent-metrics.ts';

/** Everything that a pass reads and writes; the wiring creates all of it. */
export interface PassPorts extends AttemptPorts {
  readonly source: NodeSource;
  readonly pods: Pick<NodePods, 'alive' | 'endedByKubelet' | 'unreadable' | 'onChange'>;
  readonly namespaces: () => NodeSnapshot['namespaces'];
  readonly avoided: () => NodeSnapshot['avoided'];
  /** Evictions and rules that a previous process recorded in the status; `undefined` until it has been read. */
  readonly history: () => Pick<PreviousStatus, 'evictions' | 'rules'> | undefined;
  /** Called once with that history. */
  readonly restored: (records: readonly EvictionRecord[]) => void;
  readonly doubts: () => ReadonlyMap<Signal, Because>;
  readonly doubtfulPods: () => NodeSnapshot['doubtfulPods'];
  readonly isKubeletSilent: () => boolean;
  readonly isKubeletReady: () => boolean;
  readonly hasMemoryPressure: () => boolean;
  readonly closedGates: () => readonly Because[];
  readonly periods: Periods & { readonly podsMs: number; readonly slowMs: number };
}

export interface PassRunner {
  /** Runs one pass: observe, decide, and start the evictions. */
  readonly pass: (signal: AbortSignal) => PassResult;
  /** Until the next pass, in milliseconds. */
  readonly periodMs: () => number;
  /** Resolves when every attempt that was started has finished. */
  readonly settled: () => Promise<void>;
}

/** Runs the passes of the agent. A pass is synchronous; outcomes of the attempts it started arrive between passes. */
export function createPassRunner(ports: PassPorts): PassRunner {
  const { source, clock, periods } = ports;
  let state: AgentState = FIRST_STATE;
  let headroomTrend = NO_HEADROOM_TREND;
  let isHistoryKnown = false;
  const measurements = createPodMeasurements(ports);
  const inForce = { ...ports, policy: () => withKeptThresholds(ports.policy(), state) };
  const attempts = createAttempts(inForce, (eviction, outcome) => {
    state = applyOutcome(state, { uid: eviction.pod.uid, mode: eviction.mode }, outcome, clock.monotonic());
  });

  function restoreHistory(now: number): void {
    const history = isHistoryKnown ? undefined : ports.history();
    if (history === undefined) return;
    isHistoryKnown = true;
    const restored = restoreState(state, history.evictions, { wallOffsetMs: clock.now() - now, now });
    state = { ...restored, activations: restoreActivations(history.rules) };
    ports.restored(history.evictions);
  }

  function observe(now: number, policy: AgentPolicy): NodeSnapshot {
    const view = source.readNode(now);
    const observations = decidingObservations(view, policy);
    headroomTrend = advanceHeadroomTrend(headroomTrend, leastHeadroom(policy.thresholds, observations), now);
    const isNear = pollingInterval(headroomTrend, periods) < periods.farMs;
    const isShort = headroomTrend.headroom <= 0 || state.pressure.observed.length > 0 || state.stalls.size > 0;
    const urgency = { isNear, isShort, areProcessesShort: areProcessesShort(policy.thresholds, observations) };
    return snapshotOf(ports, { view, now, ...measurements.measure(now, urgency) });
  }

  function pass(signal: AbortSignal): PassResult {
    const now = clock.monotonic();
    const policy = ports.policy();
    measurements.follow(now);
    restoreHistory(now);
    const snapshot = observe(now, policy);
    const decision = decide(state, snapshot, policy);
    state = decision.state;
    for (const eviction of decision.evictions) attempts.start(eviction, signal);
    return { snapshot, policy, decision: { ...decision, state } };
  }

  return { pass, periodMs: () => pollingInterval(headroomTrend, periods), settled: attempts.settled };
}

type MeasuredNode = Pick<NodeSnapshot, 'now' | 'usage' | 'pods'> & { readonly view: ObservedNode };

/** The input of a decision: the measurements, and what other parts of the agent know. */
function snapshotOf(ports: PassPorts, { view, now, usage, pods }: MeasuredNode): NodeSnapshot {
  return {
    ...view,
    now,
    usage,
    podPressures: ports.source.podPressures(),
    pods,
    namespaces: ports.namespaces(),
    avoided: ports.avoided(),
    doubts: ports.doubts(),
    doubtfulPods: ports.doubtfulPods(),
    isKubeletSilent: ports.isKubeletSilent(),
    isKubeletReady: ports.isKubeletReady(),
    hasMemoryPressure: ports.hasMemoryPressure(),
    closedGates: ports.closedGates(),
  };
}

export interface PassLoop {
  readonly passRunner: Pick<PassRunner, 'pass' | 'periodMs'>;
  readonly metrics: Pick<AgentMetrics, 'noteLateness' | 'notePass'>;
  readonly passed: (result: PassResult) => void;
  readonly onError: (error: unknown) => void;
  readonly onDone: () => void;
  readonly clock: Clock;
}

/** Runs passes until the signal aborts and measures their delay; an error ends one pass, not the process. */
export async function runPasses(
  { passRunner, metrics, passed, onError, onDone, clock }: PassLoop,
  signal: AbortSignal,
): Promise<void> {
  let dueAt = clock.monotonic();
  while (!signal.aborted) {
    const beganAt = clock.monotonic();
    metrics.noteLateness(Math.max(0, beganAt - dueAt) / 1000);
    try {
      passed(passRunner.pass(signal));
      onDone();
    } catch (error) {
      onError(error);
    }
    metrics.notePass((clock.monotonic() - beganAt) / 1000);
    dueAt = beganAt + passRunner.periodMs();
    await clock.sleep(Math.max(0, dueAt - clock.monotonic()), signal);
  }
}

interface MeasurementPorts {
  readonly source: Pick<NodeSource, 'follow' | 'usage'>;
  readonly pods: Pick<NodePods, 'alive' | 'endedByKubelet' | 'unreadable' | 'onChange'>;
  readonly periods: Parameters<typeof depthNow>[1];
  readonly clock: Pick<Clock, 'now'>;
}

type Urgency = Pick<Parameters<typeof depthNow>[0], 'isNear' | 'isShort' | 'areProcessesShort'>;

/** The pods of the node and their usage, measured no more often than the pressure needs. */
export interface PodMeasurements {
  /** Applies the pods that the API server shows, if they have changed. */
  readonly follow: (now: Instant) => void;
  /** Measures what is due now; otherwise the usage of an earlier pass stays. */
  readonly measure: (now: Instant, urgency: Urgency) => Pick<NodeSnapshot, 'pods' | 'usage'>;
}

/** Nothing is measured before the first pass. */
function createPodMeasurements({ source, pods, periods, clock }: MeasurementPorts): PodMeasurements {
  let current = indexPods([]);
  let haveChanged = true;
  let usage: UsageByUid = new Map();
  let measuredAt = -Infinity;
  let measuredAllAt = -Infinity;
  pods.onChange(() => void (haveChanged = true));

  function follow(now: Instant): void {
    if (!haveChanged) return;
    haveChanged = false;
    const alive = pods.alive();
    const facts = alive.map((each) => each.facts);
    const wallOffsetMs = clock.now() - now;
    const ended = pods
      .endedByKubelet()
      .map((each) => (each.at === undefined ? each : { ...each, at: each.at - wallOffsetMs }));
    const others = { endedByKubelet: ended, unreadable: pods.unreadable() };
    current = indexPods(facts, others, arrivals(current, facts, now));
    source.follow(alive.map(({ observed }) => observed));
  }

  function measure(now: Instant, urgency: Urgency): Pick<NodeSnapshot, 'pods' | 'usage'> {
    const depth = depthNow({ now, measuredAt, measuredAllAt, ...urgency }, periods);
    if (depth === undefined) return { pods: current, usage };
    usage = source.usage(depth, now);
    measuredAt = now;
    if (depth === 'all') measuredAllAt = now;
    return { pods: current, usage };
  }

  return { follow, measure };
}
