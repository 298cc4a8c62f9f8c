import type { Instant } from '#shared/domain/pod/pod.ts';

/** A stored record, as far as its end depends on it. */
export interface StoredRecord {
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Instant;
}

/** How long and how many records are kept. */
export interface Retention {
  readonly keepMs: number;
  readonly perNamespace: number;
  readonly total: number;
}

/** The records to delete, the oldest first: too old, too many of one namespace, or too many in all. */
export function expiredRecords<T extends StoredRecord>(
  records: Iterable<T>,
  { keepMs, perNamespace, total }: Retention,
  now: Instant,
): readonly T[] {
  const newestFirst = [...records].sort((left, right) => right.createdAt - left.createdAt);
  const kept = new Map<string, number>();
  let keptInAll = 0;
  const expired = newestFirst.filter(({ namespace, createdAt }) => {
    const inNamespace = kept.get(namespace) ?? 0;
    if (now - createdAt >= keepMs || inNamespace >= perNamespace || keptInAll >= total) return true;
    kept.set(namespace, inNamespace + 1);
    keptInAll += 1;
    return false;
  });
  return expired.reverse();
}
