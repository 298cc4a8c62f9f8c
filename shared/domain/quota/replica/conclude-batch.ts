import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/limited-amounts.ts';
import type { LedgerEffect } from './event.ts';
import type { LedgerVersion } from './ledger-version.ts';
import type { Replica, StepContext } from './replica.ts';
import type { Batch, Cancellation, PendingReservation, ReservationResult, AppliedBatch } from './apply-batch.ts';
import type { PodObservation } from './pod-observation.ts';

/** A batch that needs no further write. */
export interface ConcludedBatch {
  readonly batch: Batch;
  readonly applied: AppliedBatch;
  readonly observation: PodObservation;
  /** Whether the state that it was decided on is the stored one. */
  readonly isTrue: boolean;
}

/**
 * Answers the final results. A refusal based on an old state is decided again on a new one; a result that only another
 * replica, a slice holder or new pods can change is deferred. No reservation is refused while not all pods are known.
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

/** A replica that is behind refuses by the last count, which is newer; a replica that can count must have counted. */
function isFinal({ kind }: ReservationResult, { batch, observation, isTrue }: ConcludedBatch): boolean {
  if (kind === 'exceeded' || kind === 'wasted')
    return isTrue && (batch.count !== undefined || observation.kind === 'behind');
  return kind !== 'busy';
}

function readAgain(replica: Replica, unsure: readonly PendingReservation[]): void {
  replica.known = undefined;
  replica.queue.putBack(unsure);
}

/** A replica that is behind leaves the recount to others. */
function recounted({ kind }: PodObservation): LedgerEffect {
  return { kind: 'recounted', result: kind === 'blind' ? 'failed' : 'done' };
}

/** Answers a pending reservation; one that was reserved after it had timed out is cancelled. */
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

/** What is needed to cancel a reservation. */
export function cancellationOf({ uid, claim }: Reservation): Cancellation {
  return { uid, ...(claim !== undefined && { claim }) };
}

function limitedTo(known: LedgerVersion | undefined, { reservation }: PendingReservation): Amounts {
  return limitedAmounts(reservation.amounts, known?.quota.hard ?? NO_AMOUNTS);
}
