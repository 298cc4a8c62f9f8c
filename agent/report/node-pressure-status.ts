import type { Instant } from '#shared/domain/pod/pod.ts';
import { explainRanking } from '#shared/domain/ranking/explain-ranking.ts';
import {
  boundedOwner,
  type EvictionEntry,
  type NextEntry,
  type NodePressureStatus,
  type PressureConditionEntry,
  type RuleEntry,
  type SignalEntry,
} from '#shared/api/node-pressure.ts';
import { MAX_REASON } from '#shared/api/schema/report-fields.ts';
import { orderFor } from '#shared/decide/eviction/ranking/rank-node.ts';
import type { EvictionRecord, PassResult } from '#shared/decide/eviction/decide.ts';
import type { PreviousStatus } from '#agent/observe/api-server/node-pressure-object.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { isAtCpuLimit, isAtMemoryLimit, type PodPressure } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { OWN_LIMITS } from '#agent/messages.ts';
import { type Doubts, type PressureConditions, pressureConditions } from './pressure-conditions.ts';
import { podEntries } from './pod-entries.ts';
import { signalStates } from './signal-state.ts';

export interface StatusContext {
  readonly agent: NonNullable<NodePressureStatus['agent']>;
  readonly records: readonly EvictionRecord[];
  readonly doubts: Doubts;
  /** Added to a monotonic time, this gives wall time. */
  readonly wallOffsetMs: number;
  /** Generation of the NodePressure object; `undefined` while unknown. */
  readonly generation: number | undefined;
  /** The status before, written by this process or a previous one. */
  readonly previous: Pick<PreviousStatus, 'conditions' | 'signals'> | undefined;
  readonly spare?: NodePressureStatus['spare'];
  readonly throttled?: NodePressureStatus['throttled'];
}

const MAX_NEXT = 10;

function signalEntries(result: PassResult, { previous, wallOffsetMs }: StatusContext): readonly SignalEntry[] {
  const now = result.snapshot.now + wallOffsetMs;
  return signalStates(result).map(({ name, state, available, capacity, threshold, observedAt, reclaimable }) => {
    const before = previous?.signals.find((each) => each.name === name);
    return {
      name,
      state,
      available,
      reclaimable: reclaimable?.available,
      figure: reclaimable?.figure,
      capacity,
      threshold,
      since: (before?.state === state ? before.since : undefined) ?? now,
      observedAt: observedAt === undefined ? undefined : observedAt + wallOffsetMs,
    };
  });
}

/** The next candidates and why; without ineligible pods. */
function nextEntries({ decision: { assessment }, policy, snapshot }: PassResult): readonly NextEntry[] {
  const signal = assessment.trigger?.signal ?? 'memory.available';
  const order = orderFor({ signal, stage: assessment.trigger?.stage ?? 'mild' }, policy);
  return explainRanking(assessment.candidates(), order, MAX_NEXT).map(({ candidate, because }) => {
    const { pod, priority } = candidate.facts;
    const { facts } = because;
    return {
      pod: `${pod.namespace}/${pod.name}`,
      uid: pod.uid,
      priority,
      usage: facts['usage'] === undefined ? undefined : String(facts['usage']),
      request: String(facts['request'] ?? '0'),
      because: boundedReason(withPodPressure(because, snapshot.podPressures.get(pod.uid))),
    };
  });
}

function evictionEntry({ pod, owner, because, ...record }: EvictionRecord): EvictionEntry {
  return {
    ...record,
    pod: `${pod.namespace}/${pod.name}`,
    uid: pod.uid,
    owner: owner && boundedOwner(owner),
    because: boundedReason(because),
  };
}

function conditionEntries(
  conditions: PressureConditions,
  previous: StatusContext['previous'],
  now: Instant,
): readonly PressureConditionEntry[] {
  return conditions.map((condition) => {
    const before = previous?.conditions.find(({ type }) => type === condition.type);
    const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
    return { ...condition, lastTransitionTime: since ?? now };
  });
}

/** The whole status for one pass, in wall time; unchanged entries keep their times. */
export function nodePressureStatus(result: PassResult, context: StatusContext): NodePressureStatus {
  const observedAt = result.snapshot.now + context.wallOffsetMs;
  return {
    observedAt,
    observedGeneration: context.generation,
    mode: result.policy.mode,
    policy: result.policy.name,
    agent: context.agent,
    conditions: conditionEntries(pressureConditions(result, context.doubts), context.previous, observedAt),
    signals: signalEntries(result, context),
    next: nextEntries(result),
    evictions: context.records.map(evictionEntry),
    pods: podEntries(result.snapshot),
    rules: ruleEntries(result),
    spare: context.spare,
    throttled: context.throttled,
  };
}

const MAX_RULES = 32;

/**
 * Thresholds and stall rules in force, and whether each may act: a rule that was met when it came into force may not
 * act yet. Not written before they are known, so that the entries of a previous process stay.
 */
function ruleEntries({ decision: { state } }: PassResult): readonly RuleEntry[] | undefined {
  const entries = Array.from(state.activations ?? [], ([rule, { isConfirmed, policy, generation, mode, heldBy }]) => ({
    rule,
    confirmed: isConfirmed,
    policy,
    generation,
    mode,
    heldBy: isConfirmed ? undefined : heldBy,
  }));
  return state.activations && entries.slice(0, MAX_RULES);
}

/** The reason with the pod's pressure as additional facts; if the pod is at its own limit, the text says so too. */
export function withPodPressure({ code, text, facts }: Because, podPressure: PodPressure | undefined): Because {
  if (podPressure === undefined) return { code, text, facts };
  return {
    code,
    text: [text, ...limitsIn(podPressure)].join('; '),
    facts: { ...facts, ...podPressureFacts(podPressure) },
  };
}

function limitsIn(podPressure: PodPressure): readonly string[] {
  const { limitHitsPerSecond = 0, throttled = 0 } = podPressure;
  return [
    ...(isAtMemoryLimit(podPressure) ? [OWN_LIMITS.memory(rounded(limitHitsPerSecond))] : []),
    ...(isAtCpuLimit(podPressure) ? [OWN_LIMITS.cpu(Math.round(throttled * 100))] : []),
  ];
}

function podPressureFacts({ waiting, stalled, limitHits, oomKills, throttled }: PodPressure): Because['facts'] {
  const figures = {
    memoryWaiting: waiting.memory,
    memoryStalled: stalled.memory,
    cpuWaiting: waiting.cpu,
    ioWaiting: waiting.io,
    memoryLimitHits: limitHits,
    oomKills,
    cpuThrottled: throttled,
  };
  const known = Object.entries(figures).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, rounded(value)]],
  );
  return Object.fromEntries(known) as Because['facts'];
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

/** A fact is a number or a name; the definition leaves its length open. */
const MAX_FACT_LENGTH = 253;

/**
 * A reason within the limits of the CRD. Kubernetes does not limit the names of owners, and the API server would reject
 * the whole status because of one text that is too long: a tenant could silence the node.
 */
function boundedReason({ code, text, facts }: Because): Because {
  const entries = Object.entries(facts).slice(0, MAX_REASON.facts);
  const bounded = entries.map(([name, value]) => [
    name,
    typeof value === 'string' ? cut(value, MAX_FACT_LENGTH) : value,
  ]);
  return { code, text: cut(text, MAX_REASON.text), facts: Object.fromEntries(bounded) as Because['facts'] };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
