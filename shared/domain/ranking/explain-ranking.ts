import { podName } from '#shared/domain/base/texts.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { type Decimal, type Quantity, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import {
  canonicalQuantity,
  formatQuantity,
  readableAmount,
  readableBytes,
} from '#shared/domain/quantity/format-quantity.ts';
import { wholeQuantity, resourceOf, type Signal } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from './candidate.ts';
import { RESOURCES, type Unit } from './pod-usage.ts';
import { decidingKey } from './rank-pods.ts';
import type { RankingKey, RankingOrder } from './ranking-order.ts';

/** A place in the ranking (1 is evicted first), and why. */
export interface RankedPod {
  readonly position: number;
  readonly candidate: Candidate;
  readonly because: Because;
}

/** The first `most` of a ranking, each with its numbers and the reason why it comes before the next. */
export function explainRanking(ranked: readonly Candidate[], order: RankingOrder, most: number): readonly RankedPod[] {
  return ranked.slice(0, most).map((candidate, index) => ({
    position: index + 1,
    candidate,
    because: explain(candidate, ranked[index + 1], order),
  }));
}

/** Usage, request and priority of a candidate, whatever comes after it; names no other pod. */
export function standingOf(candidate: Candidate): Because {
  return { code: 'Ranked', text: standingText(candidate), facts: factsOf(candidate, undefined) };
}

function standingText(candidate: Candidate): string {
  return `${describeUsage(candidate)}, priority ${candidate.facts.priority}`;
}

function explain(candidate: Candidate, next: Candidate | undefined, order: RankingOrder): Because {
  const decidedBy = next === undefined ? undefined : decidingKey(candidate, next, order);
  const standing = standingText(candidate);
  const text =
    next === undefined || decidedBy === undefined
      ? standing
      : `${standing}; before ${podName(next.facts.pod)}: ${saysOf(decidedBy, candidate)}`;
  return { code: 'Ranked', text, facts: factsOf(candidate, decidedBy) };
}

function saysOf({ says, saysWithinRequest = says }: RankingKey, { exceedsRequest }: Candidate): string {
  return exceedsRequest ? says : saysWithinRequest;
}

function describeUsage(candidate: Candidate): string {
  const { unit } = RESOURCES[resourceOf(candidate.signal)];
  if (candidate.usage === undefined) return `has no statistics of ${unit.name}`;
  const [usage, request] = readablePair(usageText(candidate.usage, unit), textOf(candidate.request, unit));
  const relation = candidate.exceedsRequest ? 'over' : 'within';
  return `uses ${usage} ${unit.name}, ${relation} its request of ${request}`;
}

/** Both in a readable unit, unless different values would look equal. */
function readablePair(left: string, right: string): readonly [string, string] {
  const readable = [readableAmount(left), readableAmount(right)] as const;
  return readable[0] === readable[1] ? [left, right] : readable;
}

function factsOf(candidate: Candidate, decidedBy: RankingKey | undefined): Because['facts'] {
  const { unit } = RESOURCES[resourceOf(candidate.signal)];
  const { signal, usage, request, exceedsRequest, facts } = candidate;
  return {
    signal,
    ...(usage === undefined ? {} : { usage: usageText(usage, unit) }),
    request: textOf(request, unit),
    exceedsRequest,
    priority: facts.priority,
    ...(decidedBy === undefined ? {} : { decidedBy: decidedBy.name }),
  };
}

function usageText(usage: number, unit: Unit): string {
  return textOf(wholeQuantity(usage, unit.format), unit);
}

function textOf({ mantissa, exponent }: Decimal, unit: Unit): string {
  return canonicalQuantity({ mantissa, exponent: exponent + unit.exponent, format: unit.format, spelling: undefined });
}

/** An amount of a signal in a readable unit, whatever unit it was written in; rounded if it is bytes. */
export function signalAmountText(signal: Signal, amount: Quantity): string {
  const isBytes = RESOURCES[resourceOf(signal)].unit.format === 'BinarySI';
  return isBytes ? readableBytes(quantityNumber(amount)) : formatQuantity(amount);
}
