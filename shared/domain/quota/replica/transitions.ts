import { type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { isSeen, podUidOf, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import type { QuotaCount } from '#shared/domain/quota/view/quota-counter.ts';
import { noteCount } from '#shared/domain/quota/ledger/wasted-reservations.ts';
import { hasReached } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerEffect, LedgerEvent } from './event.ts';
import type {
  AppliedBatch,
  Batch,
  Cancellation,
  LedgerRecount,
  LedgerVersion,
  PendingReservation,
  ReservationResult,
} from './apply-batch.ts';
import type { LedgerView, PodObservation, Replica, StepContext } from './replica.ts';

/** A batch that needs no further write. */
interface ConcludedBatch {
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

/**
 * Counts the pods for a ledger. A pod whose reservation was removed was in the view of some recount, and the views of
 * later recounts were never older. So a view that has reached what the last recount held includes the pod, unless it is
 * gone (docs/contributing/decisions/quota-ledger.md).
 */
export function observePods(replica: Replica, base: LedgerVersion, { view, now }: StepContext): PodObservation {
  const pods = view.count(base);
  if (pods === undefined) return { kind: 'blind' };
  replica.uncharged = { unreadable: pods.unreadable, unstated: pods.unstated };
  noteMissing(replica, base, pods, { view, now });
  const isBehind = !showsLastRecount(replica, base, pods, view.provenAt);
  replica.behindSince = isBehind ? (replica.behindSince ?? now.monotonic) : undefined;
  if (isBehind) return { kind: 'behind' };
  noteWaste(replica, base, pods, { view, now });
  return { kind: 'counted', count: countOf(replica, pods, view) };
}

function countOf({ expiry }: Replica, pods: QuotaCount, { provenAt, isGone }: LedgerView): LedgerRecount {
  return {
    pods,
    holds: pods.holds,
    isExpired: (uid) => isGone(podUidOf(uid)) || expiry.isExpired(uid, provenAt),
    isDead: (slice) => expiry.isDead(slice, provenAt),
  };
}

function noteMissing(
  { expiry, slice }: Replica,
  { state }: LedgerVersion,
  pods: QuotaCount,
  { view, now }: Pick<StepContext, 'view' | 'now'>,
): void {
  const awaited = [...state.reservations.values(), ...slice.spent.values()];
  const missing = awaited.filter((each) => !isSeen(pods, each) && !view.isGone(podUidOf(each.uid)));
  expiry.missing(
    missing.map(({ uid }) => uid),
    now.monotonic,
  );
  expiry.slices(state.slices.values(), now.monotonic);
}

function noteWaste(
  replica: Replica,
  { state, quota: { hard } }: LedgerVersion,
  pods: QuotaCount,
  { view, now }: Pick<StepContext, 'view' | 'now'>,
): void {
  const { slice, waste, settings } = replica;
  const counted = { state, spent: slice.spent.values(), hard, pods, provenAt: view.provenAt };
  replica.waste = noteCount(waste, counted, { now: now.monotonic, reservationMs: settings.reservationMs });
}

/**
 * If it is unknown what the last recount held (made by a replica of an older version, or the cluster was restored), the
 * view must be proven current as of a time when that recount was known.
 */
function showsLastRecount(
  { lastRecount }: Replica,
  { recounts, counted }: LedgerVersion,
  { reached }: QuotaCount,
  provenAt: number,
): boolean {
  if (recounts === 0 || lastRecount.seenAt <= provenAt) return true;
  return counted !== undefined && hasReached(reached, counted);
}

type Passing = Extract<LedgerEvent, { readonly kind: 'observed' | 'ticked' | 'closed' }>;

/** Intervals with no open reservations, with some, and with so many that the list might fill up. */
const COUNT_EVERY_MS = { idle: 30_000, open: 5_000, crowded: 1_000 } as const;
const CROWDED = 300;
/** Deferred reservations are retried after an observed change, at most this often, and otherwise at this interval. */
const RESUME_MS = { observed: 50, unobserved: 1_000 } as const;
/** A view normally catches up by itself; after this time a proof is requested. */
const BEHIND_MS = 2_000;
const LATE: ReservationResult = { kind: 'busy', why: 'no result in time' };

/** Determines what is due. */
export function tick(replica: Replica, event: Passing, context: StepContext): readonly LedgerEffect[] {
  const { queue, slice } = replica;
  const now = context.now.monotonic;
  const late = queue.takeLate(now).map((pending): LedgerEffect => ({ kind: 'answer', pending, result: LATE }));
  if (event.kind === 'closed') slice.close();
  replica.hasObserved ||= event.kind === 'observed';
  resumeIfDue(replica, now);
  if (event.kind === 'ticked') countIfDue(replica, event.random, context);
  const isFirst = event.kind === 'observed' && !replica.hasCounted;
  if (isNewlyProven(replica, context) || isFirst) count(replica);
  replica.isSliceDue ||= slice.isDue(context);
  return needsProof(replica, context) ? [...late, { kind: 'prove' }] : late;
}

function resumeIfDue(replica: Replica, now: number): void {
  const pauseMs = replica.hasObserved ? RESUME_MS.observed : RESUME_MS.unobserved;
  if (now - replica.resumedAt < pauseMs) return;
  replica.resumedAt = now;
  replica.hasObserved = false;
  replica.queue.resume();
}

function countIfDue(replica: Replica, random: number, { now, observed }: StepContext): void {
  const open = replica.openReservations + observed.slices.size;
  if (now.monotonic - replica.countedAt < pauseAfter(open) * replica.spread) return;
  replica.countedAt = now.monotonic;
  replica.spread = 0.75 + random / 2;
  count(replica);
}

/** Requests a recount based on what is stored now: it changes nothing if another replica has just made the same one. */
function count(replica: Replica): void {
  replica.isCountDue = true;
  replica.known = undefined;
}

/** A new proof may let reservations expire with the next count. */
function isNewlyProven(replica: Replica, { view: { provenAt } }: StepContext): boolean {
  if (provenAt <= replica.provenAt) return false;
  replica.provenAt = provenAt;
  return true;
}

function needsProof(
  { expiry, behindSince }: Replica,
  { now: { monotonic: now }, view: { provenAt } }: StepContext,
): boolean {
  return expiry.needsProof(now, provenAt) || (behindSince !== undefined && now - behindSince >= BEHIND_MS);
}

function pauseAfter(open: number): number {
  if (open === 0) return COUNT_EVERY_MS.idle;
  return open < CROWDED ? COUNT_EVERY_MS.open : COUNT_EVERY_MS.crowded;
}
