import type { Account, Debit } from '#shared/domain/disruption/account.ts';
import type { Cause, Disruption } from '#shared/domain/disruption/disruption.ts';

/** What an API server knows of all removals of a time. */
export interface RemovalHistory {
  /** By UID: pods that left their node, as the watch saw them, with the cause that the audit log shows. */
  readonly removed: ReadonlyMap<string, RemovedPod>;
  /** The records in the end. */
  readonly records: readonly Disruption[];
  /** The account after each write, the first one first. */
  readonly accounts: readonly Account[];
  readonly limit: { readonly max: number; readonly windowMs: number };
}

export interface RemovedPod {
  readonly name: string;
  readonly cause: Cause | undefined;
}

/** Causes of removals through the Eviction API, which a limit refuses; others are counted whatever it allows. */
const THROUGH_API: readonly (Cause | undefined)[] = ['Unknown', 'Drain', 'Eviction'];

/**
 * What is wrong with a history: a removed pod without exactly one record, with another cause, or without exactly one unit of
 * the account; an eviction that was let through although the window was full. Empty if nothing is.
 */
export function removalMistakes(history: RemovalHistory): readonly string[] {
  return [...recordMistakes(history), ...unitMistakes(history), ...overruns(history)];
}

function recordMistakes({ removed, records }: RemovalHistory): readonly string[] {
  const causes = new Map<string, readonly Cause[]>();
  for (const { spec, outcome } of records)
    for (const { podUid } of [spec, ...outcome.others]) causes.set(podUid, [...(causes.get(podUid) ?? []), spec.cause]);
  const wrong = Array.from(removed, ([uid, { name, cause }]) => {
    const found = causes.get(uid) ?? [];
    return found.length === 1 && found[0] === cause ? [] : [`${name}: ${cause} is recorded as [${found.join()}]`];
  });
  const invented = [...causes.keys()].filter((uid) => !removed.has(uid));
  return [...wrong.flat(), ...invented.map((uid) => `${uid}: recorded, and was not removed`)];
}

function unitMistakes({ removed, accounts }: RemovalHistory): readonly string[] {
  const debited = new Set(accounts.flatMap((account) => account.map(({ uid }) => uid)));
  const missing = Array.from(removed, ([uid, { name }]) => (debited.has(uid) ? [] : [`${name}: not debited`]));
  const doubled = accounts.flatMap((account, index) =>
    new Set(account.map(({ uid }) => uid)).size < account.length ? [`account ${index}: a pod is debited twice`] : [],
  );
  return [...missing.flat(), ...doubled];
}

function overruns({ removed, accounts, limit }: RemovalHistory): readonly string[] {
  return accounts.flatMap((account, index) => {
    const before = new Set(accounts[index - 1]?.map(({ uid }) => uid));
    const admitted = account.filter(({ uid }) => !before.has(uid) && THROUGH_API.includes(removed.get(uid)?.cause));
    const isBeyond = (debit: Debit): boolean =>
      debit.cause === undefined && inWindow(account, debit, limit) > limit.max;
    return admitted.filter(isBeyond).map(({ pod }) => `${pod}: let through beyond the limit`);
  });
}

/** How many removals the window holds that ends with this one; of those at the same time, the later ones count after it. */
function inWindow(account: Account, debit: Debit, { windowMs }: RemovalHistory['limit']): number {
  const upToIt = account.slice(0, account.indexOf(debit) + 1);
  return upToIt.filter(({ at }) => debit.at - at < windowMs).length;
}
