import type { Because } from '#shared/domain/model/because.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import { type AgentState, FIRST_STATE } from './decide/agent-state.ts';
import { applyOutcome } from './decide/apply-outcome.ts';
import { decide } from './decide/decide.ts';
import type { NodeSnapshot } from './decide/snapshot/node-snapshot.ts';
import {
  advanceHeadroomTrend,
  leastHeadroom,
  NO_HEADROOM_TREND,
  pollingInterval,
  type Periods,
} from './decide/shortage/polling-interval.ts';
import type { NodePods } from './observe/api-server/node-pods.ts';
import type { PreviousStatus } from './observe/api-server/node-pressure-object.ts';
import { decidingObservations } from './decide/snapshot/deciding-observations.ts';
import type { NodeView } from './decide/snapshot/node-view.ts';
import { areProcessesShort } from './decide/measuring-depth.ts';
import { restoreState } from './decide/restore-state.ts';
import { restoreActivations, withKeptThresholds } from './decide/shortage/rule-activation.ts';
import { type AttemptPorts, createAttempts } from './attempts.ts';
import { createPodMeasurements } from './pod-measurements.ts';
import type { NodeSource } from './observe/node/node-source.ts';
import type { EvictionRecord, PassResult } from './decide/pass-result.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';

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
    measurements.follow();
    restoreHistory(now);
    const snapshot = observe(now, policy);
    const decision = decide(state, snapshot, policy);
    state = decision.state;
    for (const eviction of decision.evictions) attempts.start(eviction, signal);
    return { snapshot, policy, decision: { ...decision, state } };
  }

  return { pass, periodMs: () => pollingInterval(headroomTrend, periods), settled: attempts.settled };
}

type Measured = Pick<NodeSnapshot, 'now' | 'usage' | 'pods'> & { readonly view: NodeView };

/** The input of a decision: what was measured, and what other parts of the agent know. */
function snapshotOf(ports: PassPorts, { view, now, usage, pods }: Measured): NodeSnapshot {
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
    closedGates: ports.closedGates(),
  };
}
