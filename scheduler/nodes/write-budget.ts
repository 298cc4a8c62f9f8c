import { type BucketSize, fullBucket, takeToken } from '#shared/kube/client/token-bucket.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';

/** A limited rate of writes that nodes take in turn, so that one which always has something to write starves no other. */
export interface WriteBudget {
  /** Takes one write for a node; `false` if none is left. */
  readonly take: (node: string) => boolean;
  /** Items of nodes in the order given, but those of nodes with a write after all others, the latest write last. */
  readonly inTurn: <T>(items: readonly T[], nodeOf: (item: T) => string) => readonly T[];
}

/** Avoid lists have a rate of their own: an agent that reports many evictions delays no taint. */
export interface WriteBudgets {
  readonly avoid: WriteBudget;
  /** For taints and conditions. */
  readonly nodes: WriteBudget;
}

export function createWriteBudgets(
  { writesPerMinute }: Pick<NodesConfiguration, 'writesPerMinute'>,
  clock: Pick<Clock, 'monotonic'>,
): WriteBudgets {
  return { avoid: createWriteBudget(writesPerMinute, clock), nodes: createWriteBudget(writesPerMinute, clock) };
}

/** As many nodes as Kubernetes supports; of more, those with the earliest writes count as without one. */
const MOST_REMEMBERED = 5_000;

/** A budget with all writes of a minute available, and no turn taken. */
export function createWriteBudget(perMinute: number, clock: Pick<Clock, 'monotonic'>): WriteBudget {
  const takeWrite = createWriteRate(perMinute, clock);
  // The latest write last: a Set keeps the order of insertion.
  const written = new Set<string>();
  return {
    take(node) {
      if (!takeWrite()) return false;
      written.delete(node);
      written.add(node);
      const [earliest = node] = written;
      if (written.size > MOST_REMEMBERED) written.delete(earliest);
      return true;
    },
    inTurn(items, nodeOf) {
      const turns = new Map(Array.from(written, (node, turn) => [node, turn]));
      const turnOf = (item: (typeof items)[number]): number => turns.get(nodeOf(item)) ?? -1;
      return items.toSorted((left, right) => turnOf(left) - turnOf(right));
    },
  };
}

/** A rate of writes, all of them available at the start. */
export function createWriteRate(perMinute: number, clock: Pick<Clock, 'monotonic'>): () => boolean {
  const size: BucketSize = { burst: perMinute, refillMs: 60_000 / perMinute };
  let bucket = fullBucket(size, clock.monotonic());
  return () => {
    const left = takeToken(bucket, size, clock.monotonic());
    bucket = left ?? bucket;
    return left !== undefined;
  };
}
