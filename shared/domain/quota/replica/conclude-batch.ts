import { NO_AMOUNTS, type Amounts } from '#shared/domain/model/amounts.ts';
import type { Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/limited-amounts.ts';
import type { LedgerEffect } from './event.ts';
import type { LedgerVersion } from './ledger-version.ts';
import type { Replica, StepContext } from './replica.ts';
import type { Batch, Cancellation, PendingReservation, ReservationResult, AppliedBatch } from './apply-batch.ts';
import type { PodObservation } from './pod-observation.ts';

/** A batch that nothing more has to be written for. */
export interface ConcludedBatch {
  readonly batch: Batch;
  readonly applied: AppliedBatch;
  readonly observation: PodObservation;
  /** Whether the state that it was decided on is what is stored. */
  readonly isTrue: boolean;
}

/**
 * Answers what is settled. A refusal on an old state is settled again on a new one; what only another replica, a holder
 * of a slice or the next pods can change is deferred. Nobody is refused while not all pods are known.
 */
export function concludeBatch(
  replica: Replica,
  concluded: ConcludedBatch,
  context: StepContext,
): readonly LedgerEffect[] {
  const { batch, applied, observation, isTrue } = concluded;
  const unsure: PendingReservation[] = [];
  replica.hasCounted ||= isTrue && observation.kind !== 'blind';
  const effects = batch.pending.flatMap((pending, index) => {
    const result = applied.results[index];
    if (result !== undefined && isFinal(result, concluded)) return answer(replica, pending, result, context);
    unsure.push(pending);
    return [];
  });
  if (isTrue) replica.queue.defer(unsure);
  else if (unsure.length > 0) readAgain(replica, unsure);
  return batch.isCountDue ? [...effects, recounted(observation)] : effects;
}

/** Whoever is behind is refused by the last count, which is newer; where we could count, we must have. */
function isFinal({ kind }: ReservationResult, { batch, observation, isTrue }: ConcludedBatch): boolean {
  if (kind === 'exceeded' || kind === 'wasted')
    return isTrue && (batch.count !== undefined || observation.kind === 'behind');
  return kind !== 'busy';
}

function readAgain(replica: Replica, unsure: readonly PendingReservation[]): void {
  replica.known = undefined;
  replica.queue.putBack(unsure);
}

/** Whoever is behind leaves the count to those who are not. */
function recounted({ kind }: PodObservation): LedgerEffect {
  return { kind: 'recounted', result: kind === 'blind' ? 'failed' : 'done' };
}

/** What was reserved for somebody who had been told that it was too late is taken back. */
export function answer(
  replica: Replica,
  pending: PendingReservation,
  result: ReservationResult,
  context: StepContext,
): readonly LedgerEffect[] {
  const { queue, slice } = replica;
  const isCharged = result.kind === 'reserved' && !pending.isDryRun;
  const charged: readonly LedgerEffect[] = isCharged ? [{ kind: 'charged', path: 'ledger' }] : [];
  if (isCharged) slice.chargedElsewhere(limitedTo(replica.known, pending), context);
  if (queue.close(pending)) return [...charged, { kind: 'answer', pending, result }];
  if (isCharged) replica.cancelled = [...replica.cancelled, cancellationOf(pending.reservation)];
  return charged;
}

/** What is needed to take a reservation back. */
export function cancellationOf({ uid, claim }: Reservation): Cancellation {
  return { uid, ...(claim !== undefined && { claim }) };
}

function limitedTo(known: LedgerVersion | undefined, { reservation }: PendingReservation): Amounts {
  return limitedAmounts(reservation.amounts, known?.quota.hard ?? NO_AMOUNTS);
}
