import {
  countEviction,
  type CountedEviction,
  type CountOutcome,
  type EvictionBounds,
} from '#shared/domain/eviction/count-eviction.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createFairQueue } from '#webhook/request-body/fair-queue.ts';
import type { EvictionStore, StoredEvictions } from './eviction-store.ts';

/** Whether an eviction is within the limits and was counted. `unclear`: this could not be determined in time. */
export type Count =
  | { readonly kind: 'counted' }
  | Omit<Extract<CountOutcome, { kind: 'exceeded' }>, 'filledBy'>
  | { readonly kind: 'unclear'; readonly message: string };

/** Counts evictions across all replicas, one after another. */
export interface EvictionCounter {
  /** Never rejects; returns by `giveUpAt` of the monotonic clock at the latest. */
  count(wanted: Omit<CountedEviction, 'at'>, bounds: EvictionBounds, giveUpAt: number): Promise<Count>;
}

export interface EvictionCounterOptions {
  readonly store: EvictionStore;
  /** Returns the UIDs of pods that still run although their eviction was allowed here: something else refused it. */
  readonly findSurvivors: (evictions: readonly CountedEviction[], timeoutMs: number) => Promise<ReadonlySet<string>>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The API server executes an eviction within milliseconds; a pod that still runs after this time was not evicted. */
const SETTLED_MS = 2_000;
/** Limits how many pods are read for one decision. */
const MOST_LOOKED_AT = 16;
const MOST_WAITING = 64;

type Wanted = Parameters<EvictionCounter['count']>[0];

interface Attempt {
  readonly wanted: Wanted;
  readonly bounds: EvictionBounds;
  readonly giveUpAt: number;
}

/**
 * Counts one eviction at a time per replica; when two replicas write at once, the slower one reads again. Nodes take
 * turns: a node whose token was stolen keeps no other node waiting for all that it asks.
 */
export function createEvictionCounter(options: EvictionCounterOptions): EvictionCounter {
  const turns = createFairQueue(MOST_WAITING);
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

async function countOne(attempt: Attempt, options: EvictionCounterOptions): Promise<Count> {
  const { store, clock } = options;
  const leftMs = (): number => Math.max(0, attempt.giveUpAt - clock.monotonic());
  while (leftMs() > 0) {
    const stored = await store.read(leftMs());
    const outcome = await decide(stored, attempt, options);
    if (outcome.kind === 'exceeded') return outcome;
    if (leftMs() === 0) break;
    if (await store.write({ ...stored, evictions: outcome.counted }, leftMs())) return { kind: 'counted' };
  }
  return unclear('the count was not settled in time');
}

/** A limit that seems reached is checked again without the evictions that were not executed. */
async function decide(
  { evictions }: StoredEvictions,
  { wanted, bounds, giveUpAt }: Attempt,
  { findSurvivors, clock }: EvictionCounterOptions,
): Promise<CountOutcome> {
  const now = clock.now();
  const first = countEviction(evictions, { ...wanted, at: now }, bounds);
  if (first.kind === 'counted') return first;
  const settled = first.filledBy.filter(({ at }) => now - at >= SETTLED_MS).slice(-MOST_LOOKED_AT);
  const unharmed = await findSurvivors(settled, Math.max(1, giveUpAt - clock.monotonic()));
  if (unharmed.size === 0) return first;
  const effective = evictions.filter(({ uid }) => !unharmed.has(uid));
  return countEviction(effective, { ...wanted, at: now }, bounds);
}

function failed(error: unknown): Count {
  return unclear(errorText(error));
}

function unclear(message: string): Count {
  return { kind: 'unclear', message };
}
