import { isFresh } from '#shared/api/node-pressure.ts';
import { isMemorySignal } from '#shared/domain/pressure/memory-figure.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import {
  AGENT_IN_DRY_RUN,
  capacityUnknown,
  comparedFigure,
  HISTORY_NOT_SIMULATED,
  LIMITS_ALLOW_NONE,
  NO_ELIGIBLE_POD,
  NO_REPORT,
  NO_STATISTICS,
  policyUnreadable,
  REPORT_TOO_OLD,
  reportedAt,
  withoutFigure,
} from './messages.ts';
import type { PressureAnswer, PressureQuestion } from './pressure-model.ts';

/** `namespace/name`. */
export function nameOf({ facts: { pod } }: Candidate): string {
  return `${pod.namespace}/${pod.name}`;
}

/** Pods without a figure: eligible ones, and those that nothing else protects. */
export function unmeasuredPods({ order: { eligible, ineligible } }: PressureAnswer): readonly string[] {
  const unmeasured = ineligible.filter(({ because }) => because.code === NO_STATISTICS.code);
  const ranked = eligible.filter(({ candidate }) => candidate.usage === undefined);
  return [...unmeasured, ...ranked].map(({ candidate }) => nameOf(candidate));
}

/** What the tables do not say, as sentences. */
export function explanationsOf(answer: PressureAnswer, unmeasured: readonly string[]): readonly string[] {
  const { met, order, policy, level, thresholds } = answer;
  const resource = resourceOf(level.signal) === 'pids' ? 'process' : 'memory';
  const isHeldBack = met !== undefined && order.victims.length === 0;
  const held = order.eligible.length === 0 ? NO_ELIGIBLE_POD : LIMITS_ALLOW_NONE;
  return [
    ...(isHeldBack ? [held] : []),
    ...(unmeasured.length > 0 ? [withoutFigure(resource, unmeasured, policy.ranking.missingStats)] : []),
    ...(thresholds.some(({ isMet }) => isMet === undefined) ? [capacityUnknown(level.signal)] : []),
  ];
}

/** What the answer rests on, and what it leaves out. */
export function notesOf({ signal, now }: PressureQuestion, answer: PressureAnswer): readonly string[] {
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
