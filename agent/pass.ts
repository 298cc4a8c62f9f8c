import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { AttemptEviction } from './act/attempt-eviction.ts';
import type { ReadFresh } from './act/read-fresh.ts';
import { type AgentState, FIRST_STATE } from './decide/agent-state.ts';
import { applyOutcome, type AttemptOutcome, isUnclear } from './decide/apply-outcome.ts';
import { decide } from './decide/decide.ts';
import type { Eviction } from './decide/eviction.ts';
import { indexPods, type NodeSnapshot } from './decide/snapshot/node-snapshot.ts';
import type { Mode } from './policy/mode.ts';
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
import { areProcessesShort, depthNow } from './decide/measuring-depth.ts';
import { restoreState } from './decide/restore-state.ts';
import { restoreActivations } from './decide/shortage/rule-activation.ts';
import { abortReason } from './decide/preflight.ts';
import type { NodeSource } from './observe/node/node-source.ts';
import type { Attempt, EvictionRecord, PassResult } from './decide/pass-result.ts';
import type { AgentPolicy } from './policy/policy.ts';

/** Everything that a pass reads and writes; the wiring creates all of it. */
export interface PassPorts {
  readonly source: NodeSource;
  readonly pods: Pick<NodePods, 'alive' | 'endedByKubelet' | 'unreadable' | 'onChange'>;
  readonly namespaces: () => NodeSnapshot['namespaces'];
  readonly policy: () => AgentPolicy;
  readonly avoided: () => NodeSnapshot['avoided'];
  /** Evictions and rules that a previous process recorded in the status; `undefined` until it has been read. */
  readonly history: () => Pick<PreviousStatus, 'evictions' | 'rules'> | undefined;
  /** Called once with that history. */
  readonly restored: (records: readonly EvictionRecord[]) => void;
  readonly doubts: () => ReadonlyMap<Signal, Because>;
  readonly doubtfulPods: () => NodeSnapshot['doubtfulPods'];
  readonly isKubeletSilent: () => boolean;
  readonly closedGates: () => readonly Because[];
  readonly readFresh: ReadFresh;
  readonly attempt: Readonly<Record<Mode, AttemptEviction>>;
  readonly readAgain: AttemptEviction;
  /** Called when an eviction is decided, before a request is sent. */
  readonly requested: (eviction: Eviction) => void;
  /** Called with the outcome of every attempt. */
  readonly answered: (attempt: Attempt) => void;
  readonly clock: Clock;
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

const NO_USAGE: UsageByUid = new Map();

/** Runs the passes of the agent. A pass is synchronous; outcomes of the attempts it started arrive between passes. */
export function createPassRunner(ports: PassPorts): PassRunner {
  const { source, pods, clock, periods } = ports;
  let state: AgentState = FIRST_STATE;
  let headroomTrend = NO_HEADROOM_TREND;
  let current = indexPods([]);
  let haveChanged = true;
  let usage = NO_USAGE;
  let measuredAtMs = -Infinity;
  let measuredAllAtMs = -Infinity;
  let isHistoryKnown = false;
  const underWay = new Set<Promise<void>>();
  pods.onChange(() => void (haveChanged = true));

  function followPods(): void {
    if (!haveChanged) return;
    haveChanged = false;
    const alive = pods.alive();
    const others = { endedByKubelet: pods.endedByKubelet(), unreadable: pods.unreadable() };
    current = indexPods(
      alive.map(({ facts }) => facts),
      others,
    );
    source.follow(alive.map(({ observed }) => observed));
  }

  function measurePods(now: Instant, areProcessesShort: boolean): void {
    const isNear = pollingInterval(headroomTrend, periods) < periods.farMs;
    const isShort = headroomTrend.headroom <= 0 || state.pressure.observed.length > 0 || state.stalls.size > 0;
    const times = { now, measuredAt: measuredAtMs, measuredAllAt: measuredAllAtMs };
    const depth = depthNow({ ...times, isNear, isShort, areProcessesShort }, periods);
    if (depth === undefined) return;
    usage = source.usage(depth, now);
    measuredAtMs = now;
    if (depth === 'all') measuredAllAtMs = now;
  }

  function snapshot(view: NodeView, now: number): NodeSnapshot {
    return {
      ...view,
      now,
      usage,
      podPressures: source.podPressures(),
      pods: current,
      namespaces: ports.namespaces(),
      avoided: ports.avoided(),
      doubts: ports.doubts(),
      doubtfulPods: ports.doubtfulPods(),
      isKubeletSilent: ports.isKubeletSilent(),
      closedGates: ports.closedGates(),
    };
  }

  function restoreHistory(now: number): void {
    const history = isHistoryKnown ? undefined : ports.history();
    if (history === undefined) return;
    isHistoryKnown = true;
    const restored = restoreState(state, history.evictions, { wallOffsetMs: clock.now() - now, now });
    state = { ...restored, activations: restoreActivations(history.rules) };
    ports.restored(history.evictions);
  }

  function pass(signal: AbortSignal): PassResult {
    const now = clock.monotonic();
    const policy = ports.policy();
    followPods();
    restoreHistory(now);
    const view = source.readNode(now);
    const observations = decidingObservations(view, policy);
    headroomTrend = advanceHeadroomTrend(headroomTrend, leastHeadroom(policy.thresholds, observations), now);
    measurePods(now, areProcessesShort(policy.thresholds, observations));
    const seen = snapshot(view, now);
    const decision = decide(state, seen, policy);
    state = decision.state;
    for (const eviction of decision.evictions) setOff(eviction, signal);
    return { snapshot: seen, policy, decision: { ...decision, state } };
  }

  function setOff(eviction: Eviction, signal: AbortSignal): void {
    ports.requested(eviction);
    const attempt = carryOut(eviction, signal).finally(() => underWay.delete(attempt));
    underWay.add(attempt);
  }

  async function carryOut(eviction: Eviction, signal: AbortSignal): Promise<void> {
    const refusal = await recheck(eviction, signal);
    const outcome = refusal ?? (await ports.attempt[eviction.mode](eviction, signal));
    fold(eviction, outcome);
    if (isUnclear(outcome)) fold(eviction, await ports.readAgain(eviction, signal));
  }

  async function recheck(eviction: Eviction, signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    const fresh = await ports.readFresh(eviction.pod, signal);
    return abortReason(eviction, { fresh, view: source.readNode(clock.monotonic()) }, ports.policy());
  }

  function fold(eviction: Eviction, outcome: AttemptOutcome): void {
    state = applyOutcome(state, { uid: eviction.pod.uid, mode: eviction.mode }, outcome, clock.monotonic());
    ports.answered({ eviction, outcome });
  }

  return {
    pass,
    periodMs: () => pollingInterval(headroomTrend, periods),
    settled: async () => {
      await Promise.all(underWay);
    },
  };
}
