import { nameOf, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { debtsOf, narrowed, type Phase, type Replica, type StepContext, widened, WIDEST_BATCH } from './replica.ts';
import { answer, cancellationOf, concludeBatch, observePods, tick } from './transitions.ts';
import type { LedgerEffect, LedgerEvent, LedgerPart, Read, LedgerWritten } from './event.ts';
import {
  applyBatch,
  type Batch,
  type LedgerRecount,
  type LedgerVersion,
  type PendingReservation,
  type ReservationResult,
} from './apply-batch.ts';

type Effects = readonly LedgerEffect[];
type Writing = Extract<Phase, { readonly kind: 'writing' }>;
type Pruned = Extract<LedgerWritten, { readonly kind: 'pruned' }>;

const NOTHING: Effects = [];

/**
 * Processes an event: changes the replica and returns effects. The same events in the same context lead to the same
 * state and effects.
 *
 * Charges the slice of the replica if it has room. Otherwise the ledger is changed by compare-and-swap: all pending
 * reservations of this replica, a count of the pods and the renewal of the slice share one write. After a failure
 * without an answer the ledger is read again, and a reservation found there counts as made.
 *
 * idle → (asked, cancelled, count or slice due) → read unless known → commit → write if changed → answer → idle
 */
export function step(replica: Replica, event: LedgerEvent, context: StepContext): Effects {
  switch (event.kind) {
    case 'asked':
      return ask(replica, event.pending, context);
    case 'cancelled':
      return cancel(replica, event.reservation);
    case 'due':
      replica.isScheduled = false;
      return proceed(replica, context);
    case 'read':
      return takeRead(replica, event.result, context);
    case 'wrote':
      return takeWritten(replica, event.result, context);
    case 'pauseEnded':
      replica.phase = { kind: 'idle' };
      return proceed(replica, context);
    case 'observed':
    case 'ticked':
    case 'closed':
      return [...tick(replica, event, context), ...proceed(replica, context)];
  }
}

function ask(replica: Replica, pending: PendingReservation, context: StepContext): Effects {
  const { slice, queue } = replica;
  const isForLedger = debtsOf(replica, context).has(pending.reservation.namespace) || isNameTaken(pending, context);
  const spent = slice.spend(pending, context, isForLedger);
  if (spent === undefined) {
    queue.add(pending);
    return schedule(replica);
  }
  const charged: Effects = pending.isDryRun ? NOTHING : [{ kind: 'charged', path: 'slice' }];
  replica.isSliceDue ||= slice.isDue(context);
  return [
    { kind: 'answer', pending, result: spent },
    ...charged,
    ...(replica.isSliceDue ? schedule(replica) : NOTHING),
  ];
}

/** Whether a pod has the name: the ledger charges only what the new one requests beyond it. */
function isNameTaken({ reservation }: PendingReservation, { view }: StepContext): boolean {
  const { uid, namespace, pod } = reservation;
  return nameOf(reservation) !== uid && view.isNameTaken(namespace, pod);
}

function cancel(replica: Replica, reservation: Reservation): Effects {
  if (replica.slice.cancel(reservation)) return NOTHING;
  replica.cancelled = [...replica.cancelled, cancellationOf(reservation)];
  return schedule(replica);
}

/** All requests of the same event-loop turn share the write. */
function schedule(replica: Replica): Effects {
  if (replica.isScheduled || replica.phase.kind !== 'idle') return NOTHING;
  replica.isScheduled = true;
  return [{ kind: 'schedule' }];
}

function proceed(replica: Replica, context: StepContext): Effects {
  const { queue, cancelled, isSliceDue, isCountDue } = replica;
  const hasWork = !queue.isEmpty || cancelled.length > 0 || isSliceDue || isCountDue;
  if (replica.phase.kind !== 'idle' || !hasWork) return NOTHING;
  if (replica.known !== undefined) return commit(replica, replica.known, false, context);
  replica.phase = { kind: 'reading' };
  return [{ kind: 'read' }];
}

function takeRead(replica: Replica, result: Read, context: StepContext): Effects {
  replica.phase = { kind: 'idle' };
  if (result.kind === 'read') return commit(replica, remember(replica, result.version, context), true, context);
  replica.cancelled = [];
  if (result.kind === 'trouble') return [...countFailed(replica), ...pause(replica)];
  replica.queue.resume();
  replica.isSliceDue = replica.isCountDue = false;
  return replica.queue.take().flatMap((pending) => answer(replica, pending, { kind: 'gone' }, context));
}

/**
 * `isFresh` if the base has just been read. Nothing is reserved under limits for which the pods have not been counted.
 */
function commit(replica: Replica, base: LedgerVersion, isFresh: boolean, context: StepContext): Effects {
  const observation = observePods(replica, base, context);
  const count = observation.kind === 'counted' ? observation.count : undefined;
  if (!base.isCounted && count === undefined) return defer(replica);
  const batch = isNarrow(replica)
    ? takeNarrowBatch(replica, base, count, context)
    : takeBatch(replica, base, count, context);
  const applied = applyBatch(base, batch);
  if (applied.write === undefined) {
    const concluded = concludeBatch(replica, { batch, applied, observation, isTrue: isFresh }, context);
    return [...concluded, ...proceed(replica, context)];
  }
  if (batch.own !== undefined && applied.slice !== undefined)
    replica.slice.propose(base, batch.own, applied.slice, context);
  replica.phase = { kind: 'writing', batch, applied, observation };
  const counted = applied.write === 'recount' ? count?.holds : undefined;
  return [{ kind: 'write', write: { base, state: applied.state, counted } }];
}

function takeBatch(
  replica: Replica,
  base: LedgerVersion,
  count: LedgerRecount | undefined,
  context: StepContext,
): Batch {
  const { queue, slice } = replica;
  return {
    pending: queue.take(),
    ...takeDue(replica),
    count,
    debts: debtsOf(replica, context),
    own: slice.share(base, count, context),
  };
}

/**
 * After a refused write: only reservations, so that the refused part can be found; under new limits a count comes
 * first.
 */
function takeNarrowBatch(
  replica: Replica,
  { isCounted }: LedgerVersion,
  count: LedgerRecount | undefined,
  context: StepContext,
): Batch {
  const nothing = { cancelled: [], isCountDue: false, own: undefined, debts: debtsOf(replica, context) };
  if (!isCounted) return { ...nothing, pending: [], count };
  return { ...nothing, pending: replica.queue.take(replica.mostInBatch), count: undefined };
}

function isNarrow({ mostInBatch, queue }: Replica): boolean {
  return mostInBatch < WIDEST_BATCH && !queue.isEmpty;
}

function takeDue(replica: Replica): Pick<Batch, 'cancelled' | 'isCountDue'> {
  const { cancelled, isCountDue } = replica;
  replica.cancelled = [];
  replica.isCountDue = replica.isSliceDue = false;
  return { cancelled, isCountDue };
}

/** Defers everything until the pods are known. */
function defer(replica: Replica): Effects {
  const failed = countFailed(replica);
  replica.queue.defer(replica.queue.take());
  replica.isSliceDue = replica.isCountDue = false;
  return failed;
}

function countFailed({ isCountDue }: Replica): Effects {
  return isCountDue ? [{ kind: 'recounted', result: 'failed' }] : NOTHING;
}

function takeWritten(replica: Replica, result: LedgerWritten, context: StepContext): Effects {
  const { phase } = replica;
  if (phase.kind !== 'writing') return NOTHING;
  replica.phase = { kind: 'idle' };
  if (result.kind === 'refused') return isolate(replica, phase.batch, result.message, context);
  if (result.kind === 'pruned') return takePruned(replica, phase, result, context);
  if (result.kind !== 'written') return takeUpAgain(replica, phase.batch, result.kind === 'conflict');
  remember(replica, result.version, context);
  replica.failures = 0;
  replica.mostInBatch = widened(replica.mostInBatch);
  // The write succeeded, so its base was current and its refusals are final.
  return [...concludeBatch(replica, { ...phase, isTrue: true }, context), ...proceed(replica, context)];
}

/**
 * The API server pruned parts of the ledger. What it stored counts: without slices, each pod is charged by a write of
 * its own; without any other part, nothing can be charged.
 */
function takePruned(
  replica: Replica,
  { batch, observation }: Writing,
  { version, lost }: Pruned,
  context: StepContext,
): Effects {
  replica.slice.forgo(context);
  remember(replica, version, context);
  replica.hasCounted ||= observation.kind !== 'blind';
  const paused = pause(replica);
  if (lost.some((part) => part !== 'slices'))
    return [...batch.pending.flatMap((pending) => answer(replica, pending, outdated(lost), context)), ...paused];
  replica.queue.putBack(batch.pending);
  return paused;
}

function outdated(lost: readonly LedgerPart[]): ReservationResult {
  const fields = lost.map((part) => `status.${part}`).join(', ');
  return { kind: 'busy', why: `the CustomResourceDefinition of PriorityQuotas lacks ${fields}` };
}

/** No reservation fails because of another: half of them are written again, until the refused one is alone. */
function isolate(replica: Replica, batch: Batch, why: string, context: StepContext): Effects {
  const [only, ...others] = batch.pending;
  replica.known = undefined;
  replica.slice.withdraw();
  // Counted as far as possible: a count that cannot be stored must not keep the process from becoming ready.
  replica.hasCounted ||= batch.count !== undefined;
  // Reservations that are neither counted nor cancelled expire.
  if (only === undefined) return pause(replica);
  if (replica.mostInBatch < WIDEST_BATCH && others.length === 0) {
    replica.mostInBatch = widened(replica.mostInBatch);
    const result: ReservationResult = { kind: 'busy', why: `the API server refuses the charge: ${why}` };
    return [...answer(replica, only, result, context), ...proceed(replica, context)];
  }
  replica.mostInBatch = narrowed(batch.pending.length);
  replica.queue.putBack(batch.pending);
  restoreDue(replica, batch);
  return proceed(replica, context);
}

function restoreDue(replica: Replica, { cancelled, own, isCountDue }: Batch): void {
  replica.cancelled = [...cancelled, ...replica.cancelled];
  replica.isSliceDue ||= own?.isDue === true;
  replica.isCountDue ||= isCountDue;
}

/** Without an answer, cancellations are dropped: at worst, room stays taken until the reservation expires. */
function takeUpAgain(replica: Replica, batch: Batch, isConflict: boolean): Effects {
  replica.known = undefined;
  replica.queue.putBack(batch.pending);
  if (isConflict) {
    replica.slice.withdraw();
    restoreDue(replica, batch);
  }
  return pause(replica);
}

function pause(replica: Replica): Effects {
  replica.failures += 1;
  replica.phase = { kind: 'pausing' };
  return [{ kind: 'pause', failures: replica.failures }];
}

function remember(replica: Replica, version: LedgerVersion, { now }: StepContext): LedgerVersion {
  const id = `${version.uid} ${version.recounts}`;
  if (id !== replica.lastRecount.id) replica.lastRecount = { id, seenAt: now.monotonic };
  replica.slice.recognise(version);
  replica.openReservations = version.state.reservations.size;
  replica.known = version;
  return version;
}
