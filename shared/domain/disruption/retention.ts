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

/**
 * The records to delete, the oldest first: too old, too many of one namespace, or too many in all. The last costs those
 * namespaces that have the most, so that a tenant with many removals takes the records of no other away.
 */
export function expiredRecords<T extends StoredRecord>(
  records: Iterable<T>,
  { keepMs, perNamespace, total }: Retention,
  now: Instant,
): readonly T[] {
  const newestFirst = [...records].sort((left, right) => right.createdAt - left.createdAt);
  const isOld = ({ createdAt }: T): boolean => now - createdAt >= keepMs;
  const share = fairShare(countsOf(newestFirst.filter((record) => !isOld(record))), perNamespace, total);
  const kept = new Map<string, number>();
  let { spare } = share;
  const expired = newestFirst.filter((record) => {
    const inNamespace = kept.get(record.namespace) ?? 0;
    const isSpare = inNamespace === share.each && inNamespace < perNamespace && spare > 0;
    if (isOld(record) || (inNamespace >= share.each && !isSpare)) return true;
    if (isSpare) spare -= 1;
    kept.set(record.namespace, inNamespace + 1);
    return false;
  });
  return expired.reverse();
}

function countsOf(records: readonly StoredRecord[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const { namespace } of records) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return [...counts.values()];
}

/** How many records each namespace may keep, and how many may keep one more. */
function fairShare(counts: readonly number[], perNamespace: number, total: number): Record<'each' | 'spare', number> {
  const wanted = counts.map((count) => Math.min(count, perNamespace)).sort((left, right) => left - right);
  let left = total;
  for (const [index, count] of wanted.entries()) {
    const namespaces = wanted.length - index;
    const each = Math.floor(left / namespaces);
    if (count > each) return { each, spare: left - each * namespaces };
    left -= count;
  }
  return { each: perNamespace, spare: 0 };
}
