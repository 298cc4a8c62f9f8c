import { type Account, SETTLED_MS, withoutSurvivors } from '#shared/domain/disruption/account.ts';
import {
  countEviction,
  type CountOutcome,
  type EvictionBounds,
  type WantedEviction,
} from '#shared/domain/eviction/count-eviction.ts';
import { compareAndSwap, type StoredStatus, type Swap } from '#shared/kube/client/compare-and-swap.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { AllowedVictim } from './read-eviction.ts';
import { createFairQueue } from '#webhook/request-body/fair-queue.ts';

/** Whether an eviction is within the limits and was counted. `unclear`: this could not be determined in time. */
export type EvictionCount =
  | { readonly kind: 'counted' }
  | Omit<Extract<CountOutcome, { kind: 'exceeded' }>, 'filledBy'>
  | { readonly kind: 'unclear'; readonly message: string };

type UntimedEviction = Omit<WantedEviction, 'at'>;

/** Counts evictions across all replicas, one after another. */
export interface EvictionCounter {
  /** Never rejects; returns by `giveUpAt` of the monotonic clock at the latest. */
  count(wanted: UntimedEviction, bounds: EvictionBounds, giveUpAt: number): Promise<EvictionCount>;
}

export interface EvictionCounterOptions {
  /** The account that all replicas share. */
  readonly store: Pick<Swap<StoredStatus<Account>, EvictionCount>, 'read' | 'write'>;
  /** Returns the UIDs of pods that still run although their eviction was allowed here: something else refused it. */
  readonly findSurvivors: (evicted: readonly AllowedVictim[], timeoutMs: number) => Promise<ReadonlySet<string>>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

const MAX_WAITING = 64;

interface CountAttempt {
  readonly wanted: UntimedEviction;
  readonly bounds: EvictionBounds;
  readonly giveUpAt: number;
}

/**
 * Counts one eviction at a time per replica; if two replicas write at once, the slower one reads again. Nodes take
 * turns, so that a node whose token was stolen cannot delay others with many requests.
 */
export function createEvictionCounter(options: EvictionCounterOptions): EvictionCounter {
  const turns = createFairQueue(MAX_WAITING);
  return {
    count: (wanted, bounds, giveUpAt) =>
      new Promise((settle) => {
        const place = turns.enter([wanted.node], (turn) => {
          const counted = countOne({ wanted, bounds, giveUpAt }, options).catch(failed);
          void counted.then(settle).finally(() => turn.end());
        });
        if (place === undefined) settle(unclear('too many evictions are being counted'));
      }),
  };
}

async function countOne(attempt: CountAttempt, options: EvictionCounterOptions): Promise<EvictionCount> {
  const { store, clock } = options;
  const leftMs = (): number => Math.max(0, attempt.giveUpAt - clock.monotonic());
  const count = await compareAndSwap<StoredStatus<Account>, EvictionCount>({
    ...store,
    leftMs,
    decide: async (stored) => {
      const outcome = await decide(stored.value, attempt, options);
      if (outcome.kind === 'exceeded') return { next: undefined, result: outcome };
      return { next: { ...stored, value: outcome.account }, result: { kind: 'counted' } };
    },
  });
  return count ?? unclear('the count was not settled in time');
}

/** If a limit seems reached, it is checked again without the evictions that were not carried out. */
async function decide(
  account: Account,
  { wanted, bounds, giveUpAt }: CountAttempt,
  { findSurvivors, clock }: EvictionCounterOptions,
): Promise<CountOutcome> {
  const now = clock.now();
  const first = countEviction(account, { ...wanted, at: now }, bounds);
  if (first.kind === 'counted') return first;
  const settled = first.filledBy.filter(({ at }) => now - at >= SETTLED_MS);
  const evicted = settled.map(({ uid, pod, namespace = '' }) => ({ uid, pod, namespace }));
  const unharmed = await findSurvivors(evicted, Math.max(1, giveUpAt - clock.monotonic()));
  if (unharmed.size === 0) return first;
  return countEviction(withoutSurvivors(account, unharmed, now), { ...wanted, at: now }, bounds);
}

function failed(error: unknown): EvictionCount {
  return unclear(errorText(error));
}

function unclear(message: string): EvictionCount {
  return { kind: 'unclear', message };
}
