import type { PodCount } from '#shared/domain/quota/pod-count.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerObject } from './ledger-object.ts';
import type { LedgerStore } from './ledger-store.ts';
import { createMissingPods } from './missing-pods.ts';
import type { QuotaNews } from './own-slice.ts';
import type { Count } from './settle-batch.ts';
import { createSilentSlices } from './silent-slices.ts';

export interface PodCountsOptions {
  readonly store: LedgerStore;
  /** Every pod that the quota counts, read from storage. */
  readonly countPods: (quota: PriorityQuota) => Promise<PodCount>;
  /** Whether the pod of a reservation was there and is gone for good; not knowing is no harm. */
  readonly hasEnded: (reservationUid: string) => boolean;
  /** How long a pod may take to appear after it was admitted. */
  readonly reservationMs: number;
  /** How long a slice may be spent without a write. */
  readonly sliceLifeMs: number;
  readonly news: () => QuotaNews;
  readonly clock: Clock;
}

/** Counts of the pods of one quota, and when they may be made. */
export interface PodCounts {
  /** Rejects when ledger or pods cannot be read; `undefined` when the quota is no more. */
  prepare(): Promise<Count | undefined>;
  /** Whether so much time has passed since the last count that nobody should be refused without another. */
  isDue(): boolean;
  untilDue(): Promise<void>;
  /** The ledger has just been counted, by us or by somebody else. */
  done(): void;
  /** Under new limits no count has been made yet. */
  forget(): void;
  /** There is news of the slices. */
  hear(): void;
}

/** A refusal is checked against the pods that exist, but they are listed no more often, and no more than a third of the time. */
const SHORTEST_PAUSE_MS = 1_000;
const PAUSE_PER_LISTING = 2;
/** Clocks of replicas may go at different speeds: somebody else's life is waited for three times. */
const LIVES_WAITED = 3;

/** `spent` names pods that were charged to a slice, for which there is no reservation. */
export function createPodCounts(options: PodCountsOptions, spent: () => Iterable<string>): PodCounts {
  const { store, countPods, hasEnded, clock, reservationMs, sliceLifeMs, news } = options;
  const missing = createMissingPods(clock, reservationMs);
  const silent = createSilentSlices(clock, LIVES_WAITED * sliceLifeMs + reservationMs);
  let pauseMs = SHORTEST_PAUSE_MS;
  let dueAt = -Infinity;

  /** The order matters: first the ledger is read, then the pods are listed. */
  async function prepare(): Promise<Count | undefined> {
    const found = await store.read();
    if (found.kind === 'trouble') throw new Error(`Could not read the ledger: ${found.message}`);
    return found.kind === 'gone' ? undefined : countAfter(found.object);
  }

  async function countAfter(begun: LedgerObject): Promise<Count> {
    const begunAt = clock.monotonic();
    const awaited = [...begun.state.reservations.keys(), ...spent()];
    const isDead = silent.look(begun.state.slices.values());
    const pods = await countPods(begun.quota);
    pauseMs = Math.max(SHORTEST_PAUSE_MS, (clock.monotonic() - begunAt) * PAUSE_PER_LISTING);
    missing.update(awaited, pods.generations);
    return { begun, pods, isExpired: (uid) => missing.isExpired(uid) || hasEnded(uid), isDead };
  }

  return {
    prepare,
    isDue: () => clock.monotonic() >= dueAt,
    untilDue: () => clock.sleep(Math.max(0, dueAt - clock.monotonic())),
    done: () => void (dueAt = clock.monotonic() + pauseMs),
    forget: () => void (dueAt = -Infinity),
    hear: () => void silent.look(news().slices.values()),
  };
}
