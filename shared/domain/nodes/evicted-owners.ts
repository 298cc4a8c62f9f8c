import { SECOND_MS } from '#shared/domain/base/durations.ts';
import { type Instant, MAX_SKEW_MS, ownerId, type OwnerKey } from '#shared/domain/pod/pod.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';

/** An eviction as the agent of a node recorded it; `outcome` is that of the request. */
export interface RecordedEviction {
  readonly uid: string;
  readonly owner: OwnerKey | undefined;
  readonly signal: string;
  /** Of the eviction, not of the agent now: a dry run removed no pod. */
  readonly mode: 'DryRun' | 'Enforce';
  readonly outcome: string;
  readonly requestedAt: Instant | undefined;
  /** When the pod started, by the clock of its node, in whole seconds; an earlier agent does not record it. */
  readonly startedAt?: Instant | undefined;
}

/** An owner whose pods one node evicted, and how often it came back. */
export interface EvictedOwner {
  readonly owner: OwnerKey;
  readonly rounds: number;
  readonly lastAt: Instant;
  /** Of the last eviction. */
  readonly signal: string;
}

/** Outcomes after which the pod terminates; a dry run and a refusal remove no pod. */
export const REMOVING_OUTCOMES: readonly string[] = ['evicted', 'foundEnding'];
/** Several pods of an owner evicted in one shortage count as one round, unless one of them came back. */
const ONE_ROUND_MS = 30_000;
/**
 * The owners with evictions in the window that ends now, in the order of their names. An agent's clock may be up to a
 * minute ahead. Mirror pods, whose owner is the Node, are left out: nothing schedules them.
 */
export function evictedOwners(
  evictions: readonly RecordedEviction[],
  windowMs: number,
  now: Instant,
): readonly EvictedOwner[] {
  const byOwner = Map.groupBy(removals(evictions, windowMs, now), ({ owner }) => ownerId(owner));
  return [...byOwner.values()]
    .map(summary)
    .sort((left, right) => compareTexts(ownerId(left.owner), ownerId(right.owner)));
}

interface OwnerEviction {
  readonly owner: OwnerKey;
  readonly signal: string;
  readonly at: Instant;
  readonly startedAt: Instant | undefined;
}

function removals(evictions: readonly RecordedEviction[], windowMs: number, now: Instant): readonly OwnerEviction[] {
  return evictions.flatMap(({ owner, signal, mode, outcome, requestedAt, startedAt }) => {
    if (owner === undefined || owner.kind === 'Node' || requestedAt === undefined) return [];
    if (mode !== 'Enforce' || !REMOVING_OUTCOMES.includes(outcome) || requestedAt <= now - windowMs) return [];
    if (requestedAt > now + MAX_SKEW_MS) return [];
    // Not limited to `now`: otherwise the end of an entry would move with every pass, and every pass would write it.
    return [{ owner, signal, at: requestedAt, startedAt }];
  });
}

function summary(removed: readonly OwnerEviction[]): EvictedOwner {
  const inOrder = removed.toSorted((left, right) => left.at - right.at || compareTexts(left.signal, right.signal));
  const { owner, signal, at } = inOrder.at(-1) as OwnerEviction;
  return { owner, rounds: countRounds(inOrder), lastAt: at, signal };
}

/** A round begins after a pause, and with a pod that started after the first eviction of the last round: it came back. */
function countRounds(inOrder: readonly OwnerEviction[]): number {
  let [rounds, beganAt, lastAt] = [0, Infinity, -Infinity];
  for (const { at, startedAt = -Infinity } of inOrder) {
    const isNew = at - lastAt > ONE_ROUND_MS || startedAt > beganAt - SECOND_MS;
    if (isNew) [rounds, beganAt] = [rounds + 1, at];
    lastAt = at;
  }
  return rounds;
}
