import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { MemoryFigure } from '#shared/domain/pressure/memory-figure.ts';
import { wholeQuantity } from '#shared/domain/pressure/observation.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import { explainRanking } from '#shared/domain/ranking/explain-ranking.ts';
import { orderFor } from '#agent/decide/ranking/rank-node.ts';
import type { Mode } from '#agent/policy/mode.ts';
import type { EvictionRecord, PassResult } from '#agent/decide/pass-result.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import { withPodPressure } from './describe-pod-pressure.ts';
import { type Condition, type Doubts, type PressureConditions, pressureConditions } from './pressure-conditions.ts';
import { type SignalLevel, signalStates } from './signal-state.ts';

/** `status` of this node's NodePressure object; times are RFC 3339. */
export interface NodePressureStatus {
  readonly observedAt: string;
  readonly observedGeneration?: number;
  readonly mode: Mode;
  /** The NodePressurePolicy in force. */
  readonly policy: string;
  readonly agent: { readonly version: string; readonly pod: string };
  readonly conditions: readonly Condition[];
  readonly signals: readonly SignalEntry[];
  readonly next: readonly NextEntry[];
  readonly evictions: readonly EvictionEntry[];
  /**
   * Thresholds and stall rules in force, and whether each may act: a rule that was met when it came into force may not
   * yet. Not written before they are known, so that the entries of a previous process stay.
   */
  readonly rules: readonly RuleEntry[] | undefined;
}

interface RuleEntry {
  readonly rule: string;
  readonly confirmed: boolean;
  readonly policy: string;
  readonly generation: number;
}

interface SignalEntry {
  readonly name: string;
  readonly available: string;
  readonly capacity: string;
  readonly threshold?: string;
  readonly state: SignalLevel;
  readonly since: string;
  readonly observedAt?: string;
  /** Memory that processes can still allocate, if the kernel reports it. */
  readonly reclaimable?: string;
  /** The figure that thresholds are compared with. */
  readonly figure?: MemoryFigure;
}

interface NextEntry {
  readonly pod: string;
  readonly uid: string;
  readonly priority: number;
  readonly usage?: string;
  readonly request: string;
  readonly because: Because;
}

interface EvictionEntry {
  readonly pod: string;
  readonly uid: string;
  readonly owner?: string;
  readonly signal: string;
  readonly stage: string;
  readonly outcome: string;
  readonly requestedAt: string;
  readonly endedAt?: string;
  readonly because: Because;
}

export interface StatusContext {
  readonly agent: NodePressureStatus['agent'];
  readonly records: readonly EvictionRecord[];
  readonly doubts: Doubts;
  /** Added to a monotonic time, this gives wall time. */
  readonly wallOffsetMs: number;
  /** Generation of the NodePressure object; `undefined` while unknown. */
  readonly generation: number | undefined;
  /** The status before, written by this process or a previous one. */
  readonly previous: Pick<PreviousStatus, 'conditions' | 'signals'> | undefined;
}

const MOST_NEXT = 10;

function time(instant: Instant): string {
  return new Date(instant).toISOString();
}

function signalEntries(result: PassResult, { previous, wallOffsetMs }: StatusContext): readonly SignalEntry[] {
  const now = time(result.snapshot.now + wallOffsetMs);
  return signalStates(result).map((signal) => {
    const before = previous?.signals.find(({ name }) => name === signal.name);
    return {
      name: signal.name,
      available: signal.available,
      capacity: signal.capacity,
      ...(signal.threshold === undefined ? {} : { threshold: signal.threshold }),
      state: signal.state,
      since: before?.state === signal.state ? before.since : now,
      ...(signal.observedAt === undefined ? {} : { observedAt: time(signal.observedAt + wallOffsetMs) }),
      ...(signal.reclaimable === undefined
        ? {}
        : { reclaimable: signal.reclaimable.available, figure: signal.reclaimable.figure }),
    };
  });
}

/** The next candidates and why; without ineligible pods. */
function nextEntries({ decision: { assessment }, policy, snapshot }: PassResult): readonly NextEntry[] {
  const signal = assessment.trigger?.signal ?? 'memory.available';
  const resource = resourceOf(signal);
  const order = orderFor({ signal, stage: assessment.trigger?.stage ?? 'mild' }, policy);
  return explainRanking(assessment.candidates(), order, MOST_NEXT).map(({ candidate, because }) => {
    const { pod, priority } = candidate.facts;
    return {
      pod: `${pod.namespace}/${pod.name}`,
      uid: pod.uid,
      priority,
      ...(candidate.usage === undefined ? {} : { usage: amount(candidate.usage, resource) }),
      request: String(because.facts['request'] ?? '0'),
      because: withPodPressure(because, snapshot.podPressures.get(pod.uid)),
    };
  });
}

function amount(usage: number, resource: string): string {
  return canonicalQuantity(wholeQuantity(usage, resource === 'memory' ? 'BinarySI' : 'DecimalSI'));
}

function evictionEntry(record: EvictionRecord): EvictionEntry {
  const { pod, owner, signal, stage, outcome, requestedAt, endedAt, because, mode } = record;
  return {
    pod: `${pod.namespace}/${pod.name}`,
    uid: pod.uid,
    ...(owner === undefined ? {} : { owner }),
    signal,
    stage,
    outcome: mode === 'DryRun' ? `${outcome} (dry run)` : outcome,
    requestedAt: time(requestedAt),
    ...(endedAt === undefined ? {} : { endedAt: time(endedAt) }),
    because,
  };
}

function conditionEntries(
  conditions: PressureConditions,
  previous: StatusContext['previous'],
  now: string,
): readonly Condition[] {
  return conditions.map((condition) => {
    const before = previous?.conditions.find(({ type }) => type === condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
    return { ...condition, lastTransitionTime };
  });
}

/** The whole status for one pass; unchanged entries keep their times. */
export function nodePressureStatus(result: PassResult, context: StatusContext): NodePressureStatus {
  const observedAt = time(result.snapshot.now + context.wallOffsetMs);
  return {
    observedAt,
    ...(context.generation === undefined ? {} : { observedGeneration: context.generation }),
    mode: result.policy.mode,
    policy: result.policy.name,
    agent: context.agent,
    conditions: conditionEntries(pressureConditions(result, context.doubts), context.previous, observedAt),
    signals: signalEntries(result, context),
    next: nextEntries(result),
    evictions: context.records.map(evictionEntry),
    rules: ruleEntries(result),
  };
}

const MOST_RULES = 32;

function ruleEntries({ decision: { state } }: PassResult): readonly RuleEntry[] | undefined {
  const entries = Array.from(state.activations ?? [], ([rule, { isConfirmed, policy, generation }]) => ({
    rule,
    confirmed: isConfirmed,
    policy,
    generation,
  }));
  return state.activations && entries.slice(0, MOST_RULES);
}
