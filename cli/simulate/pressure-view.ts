import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { isMemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { type Quantity, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { readableBytes } from '#shared/domain/quantity/readable-amount.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { RankedPod } from '#shared/domain/ranking/explain-ranking.ts';
import type { Metadata } from '#cli/output/answer.ts';
import { evictedFirst, noPodEvicted, PRESSURE } from './messages.ts';
import { explanationsOf, nameOf, notesOf, unmeasuredPods } from './pressure-notes.ts';
import type { PressureAnswer, PressureQuestion } from './pressure-model.ts';
import type { ThresholdFact } from './threshold-facts.ts';

/** What `plimsoll simulate pressure -o json` prints. */
export interface PressureView {
  /** Of the node. */
  readonly metadata: Metadata;
  readonly signal: string;
  readonly available: string;
  readonly policy: string;
  /** Of the met threshold; where none is met, of the policy. */
  readonly mode: Mode;
  /** `severe`: a hard threshold is met, `mild`: a soft one, `none`: none. */
  readonly stage: 'none' | 'mild' | 'severe';
  readonly message: string;
  readonly because: Because;
  /** Pods that the agent would choose at once, `namespace/name`. */
  readonly victims: readonly string[];
  /** All pods that may be evicted, who goes first stands first. */
  readonly order: readonly OrderEntry[];
  readonly notEvicted: readonly KeptPod[];
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

export interface KeptPod {
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
  const victims = order.victims.map(nameOf);
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

function identityOf(candidate: Candidate): Pick<KeptPod, 'pod' | 'priority'> {
  return { pod: nameOf(candidate), priority: candidate.facts.priority };
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
  return PRESSURE.thresholdMet({ ...values, needed: readableOf(level.signal, met.needed) }, values);
}

/** A share of the capacity is a number of bytes that is hard to read. */
function readableOf(signal: Signal, amount: Quantity): string {
  return isMemorySignal(signal) ? readableBytes(quantityNumber(amount)) : formatQuantity(amount);
}

function thresholdEntry(signal: Signal, { threshold, stage, mode, needed, isMet }: ThresholdFact): ThresholdEntry {
  return {
    kind: stage === 'severe' ? 'hard' : 'soft',
    ...(needed === undefined ? {} : { least: formatQuantity(needed), shown: readableOf(signal, needed) }),
    gracePeriodSeconds: threshold.gracePeriodSeconds,
    mode,
    met: isMet ?? 'unknown',
  };
}
