import type { LedgerEffect, LedgerEvent } from './event.ts';
import type { Replica, StepContext } from './replica.ts';
import type { ReservationResult } from './apply-batch.ts';

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
