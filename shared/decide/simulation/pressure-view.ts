import { podName } from '#shared/domain/base/texts.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { isMemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import { resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { type RankedPod, signalAmountText } from '#shared/domain/ranking/explain-ranking.ts';
import { RESOURCES } from '#shared/domain/ranking/pod-usage.ts';
import { isFresh } from '#shared/api/node-pressure.ts';
import {
  AGENT_IN_DRY_RUN,
  capacityUnknown,
  comparedFigure,
  evictedFirst,
  HISTORY_NOT_SIMULATED,
  LIMITS_ALLOW_NONE,
  NO_ELIGIBLE_POD,
  NO_REPORT,
  noPodEvicted,
  policyUnreadable,
  PRESSURE,
  REPORT_TOO_OLD,
  reportedAt,
  withoutFigure,
} from './messages.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import type { PressureAnswer, PressureQuestion, ThresholdFact } from './pressure-model.ts';

/** What happens on a node under pressure, as `plimsoll simulate pressure -o json` prints it. */
export interface PressureView {
  /** Of the node. */
  readonly metadata: { readonly name: string };
  readonly signal: string;
  readonly available: string;
  readonly policy: string;
  /** Mode of the met threshold, or of the policy if none is met. */
  readonly mode: Mode;
  /** `severe`: a hard threshold is met, `mild`: a soft one, `none`: none. */
  readonly stage: 'none' | 'mild' | 'severe';
  readonly message: string;
  readonly because: Because;
  /** Pods that the agent would choose at once, `namespace/name`. */
  readonly victims: readonly string[];
  /** All pods that may be evicted, in the order of eviction. */
  readonly order: readonly OrderEntry[];
  readonly notEvicted: readonly NotEvictedPod[];
  /** Pods without a figure that nothing else protects. */
  readonly withoutFigure: readonly string[];
  readonly thresholds: readonly ThresholdEntry[];
  readonly explanations: readonly string[];
  readonly notes: readonly string[];
}

export interface OrderEntry {
  readonly position: number;
  readonly pod: string;
  readonly uid: string;
  readonly priority: number;
  readonly usage?: string;
  readonly request: string;
  readonly because: Because;
}

export interface NotEvictedPod {
  readonly pod: string;
  readonly priority: number;
  readonly because: Because;
}

export interface ThresholdEntry {
  readonly kind: 'hard' | 'soft';
  /** The least that must be left; `shown` is rounded. */
  readonly least?: string;
  readonly shown?: string;
  readonly gracePeriodSeconds: number;
  readonly mode: Mode;
  readonly met: boolean | 'unknown';
}

export function pressureView(question: PressureQuestion, answer: PressureAnswer): PressureView {
  const { node, signal } = question;
  const { policy, met, order, thresholds } = answer;
  const victims = order.victims.map(({ namespace, name }) => `${namespace}/${name}`);
  const unmeasured = unmeasuredPods(answer);
  return {
    metadata: { name: node.name },
    signal,
    available: formatQuantity(question.available),
    policy: policy.name,
    mode: met?.mode ?? policy.mode,
    stage: met?.stage ?? 'none',
    message: victims.length > 0 ? evictedFirst(node.name, victims) : noPodEvicted(node.name),
    because: becauseOf(answer),
    victims,
    order: order.eligible.map(orderEntry),
    notEvicted: order.ineligible.map(({ candidate, because }) => ({ ...identityOf(candidate), because })),
    withoutFigure: unmeasured,
    thresholds: thresholds.map((each) => thresholdEntry(signal, each)),
    explanations: explanationsOf(answer, unmeasured),
    notes: notesOf(question, answer),
  };
}

function identityOf(candidate: Candidate): Pick<NotEvictedPod, 'pod' | 'priority'> {
  return { pod: podName(candidate.facts.pod), priority: candidate.facts.priority };
}

function orderEntry({ position, candidate, because }: RankedPod): OrderEntry {
  const { usage, request } = because.facts;
  return {
    position,
    ...identityOf(candidate),
    uid: candidate.facts.pod.uid,
    ...(usage === undefined ? {} : { usage: String(usage) }),
    request: String(request),
    because,
  };
}

function becauseOf({ policy, level, met, thresholds }: PressureAnswer): Because {
  const facts = { signal: level.signal, available: formatQuantity(level.available), policy: policy.name };
  if (thresholds.length === 0) return PRESSURE.noThreshold(facts, facts);
  if (met?.needed === undefined) return PRESSURE.noThresholdMet(facts, facts);
  const { stage, mode, threshold } = met;
  const { gracePeriodSeconds } = threshold;
  const values = { ...facts, needed: formatQuantity(met.needed), stage, mode, gracePeriodSeconds };
  return PRESSURE.thresholdMet({ ...values, needed: signalAmountText(level.signal, met.needed) }, values);
}

function thresholdEntry(signal: Signal, { threshold, stage, mode, needed, isMet }: ThresholdFact): ThresholdEntry {
  return {
    kind: stage === 'severe' ? 'hard' : 'soft',
    ...(needed === undefined ? {} : { least: formatQuantity(needed), shown: signalAmountText(signal, needed) }),
    gracePeriodSeconds: threshold.gracePeriodSeconds,
    mode,
    met: isMet ?? 'unknown',
  };
}

const NO_STATISTICS = REASONS.noStatistics({}).code;

/** Pods without a figure: eligible ones, and those that nothing else protects. */
function unmeasuredPods({ order: { eligible, ineligible } }: PressureAnswer): readonly string[] {
  const unmeasured = ineligible.filter(({ because }) => because.code === NO_STATISTICS);
  const ranked = eligible.filter(({ candidate }) => candidate.usage === undefined);
  return [...unmeasured, ...ranked].map(({ candidate }) => podName(candidate.facts.pod));
}

/** What the tables do not show, as sentences. */
function explanationsOf(answer: PressureAnswer, unmeasured: readonly string[]): readonly string[] {
  const { met, order, policy, level, thresholds } = answer;
  const { name } = RESOURCES[resourceOf(level.signal)].unit;
  const resource = name === 'processes' ? 'process' : name;
  const isHeldBack = met !== undefined && order.victims.length === 0;
  const held = order.eligible.length === 0 ? NO_ELIGIBLE_POD : LIMITS_ALLOW_NONE;
  return [
    ...(isHeldBack ? [held] : []),
    ...(unmeasured.length > 0 ? [withoutFigure(resource, unmeasured, policy.ranking.missingStats)] : []),
    ...(thresholds.some(({ isMet }) => isMet === undefined) ? [capacityUnknown(level.signal)] : []),
  ];
}

/** What the answer is based on, and what it leaves out. */
function notesOf({ signal, now }: PressureQuestion, answer: PressureAnswer): readonly string[] {
  const { policy, status, selection } = answer;
  const isDry = policy.mode === 'Enforce' && isFresh(status, now) && status.mode === 'DryRun';
  return [
    ...(isMemorySignal(signal) ? [comparedFigure(policy.memoryFigure)] : []),
    sourceNote(status, now),
    ...(isDry ? [AGENT_IN_DRY_RUN] : []),
    ...(selection.kind === 'unreadable'
      ? [policyUnreadable(selection.name, selection.field, selection.message, policy.name)]
      : []),
    HISTORY_NOT_SIMULATED,
  ];
}

function sourceNote(status: PressureAnswer['status'], now: PressureQuestion['now']): string {
  if (status?.observedAt === undefined) return NO_REPORT;
  return isFresh(status, now) ? reportedAt(new Date(status.observedAt).toISOString()) : REPORT_TOO_OLD;
}
