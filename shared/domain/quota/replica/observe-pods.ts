import { podUidOf } from '#shared/domain/quota/ledger/ledger-state.ts';
import { isSeen } from '#shared/domain/quota/ledger/pod-count.ts';
import type { QuotaCount } from '#shared/domain/quota/view/quota-counter.ts';
import { noteCount } from '#shared/domain/quota/ledger/wasted-reservations.ts';
import { hasReached } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerVersion } from './ledger-version.ts';
import type { LedgerView, Replica, StepContext } from './replica.ts';
import type { Count } from './apply-batch.ts';
import type { PodObservation } from './pod-observation.ts';

/**
 * Counts the pods for a ledger. A pod whose reservation was removed was in the view of some recount, and the views of
 * later recounts were never older. So a view that has reached what the last recount held includes the pod, unless it is
 * gone (docs/decisions/0006).
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

function countOf({ expiry }: Replica, pods: QuotaCount, { provenAt, isGone }: LedgerView): Count {
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
