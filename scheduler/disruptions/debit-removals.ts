import { decodeAccount, encodeAccount } from '#shared/api/disruption-account.ts';
import { type Account, countRemoval } from '#shared/domain/disruption/account.ts';
import { causeOf } from '#shared/domain/disruption/cause.ts';
import {
  coveringRules,
  limitsByNamespace,
  type LimitsOfNamespace,
  rulesOf,
} from '#shared/domain/disruption/disruption-limit.ts';
import { componentOf } from '#shared/domain/disruption/limit-rule.ts';
import { withoutSurplus } from '#shared/domain/disruption/needed-debits.ts';
import type { PendingDebit } from '#shared/domain/disruption/pending-debits.ts';
import type { Removals } from '#shared/domain/disruption/removals.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { COMPONENT_NAMES, DISRUPTION_ACCOUNT } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { compareAndSwap, statusStore, type StoredStatus } from '#shared/kube/client/compare-and-swap.ts';
import { DISRUPTION_ACCOUNTS } from '#shared/kube/resource.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { type KnownLimits, limitObjects } from './known-limits.ts';

export interface DebitOptions extends ClientContext {
  readonly removals: Removals;
  readonly snapshot: Pick<ClusterSnapshot, 'budgets'>;
  readonly known: KnownLimits;
}

/** Each costs one write at most; the rest follow a second later. */
const MAX_NAMESPACES = 10;
/** Per pass, so that no pass blocks for long. */
const MAX_DEBITED = 500;
const WITHIN_MS = 5_000;
const FORMAT = { decode: decodeAccount, encode: encodeAccount, empty: [] };

/** After a failure, other namespaces come first. */
const RETRY_AFTER_MS = 30_000;

/**
 * Debits observed removals to the accounts, whatever removed the pods (S3-16). Removals that the webhook has debited
 * are in the account already and are not counted twice. A pass resolves with the namespaces whose accounts changed;
 * failures are retried later.
 */
export function createDebits(options: DebitOptions): (signal: AbortSignal) => Promise<readonly string[]> {
  const failedAt = new Map<string, number>();
  return async (signal) => {
    const now = options.clock.monotonic();
    for (const [namespace, at] of failedAt) if (now - at >= RETRY_AFTER_MS) failedAt.delete(namespace);
    const changed: string[] = [];
    for (const debits of dueByNamespace(options, failedAt)) {
      if (signal.aborted) break;
      if (await debitNamespace(debits, options)) changed.push(debits.namespace);
      else failedAt.set(debits.namespace, now);
    }
    return changed;
  };
}

function dueByNamespace(options: DebitOptions, failedAt: ReadonlyMap<string, number>): readonly NamespaceDebits[] {
  const { removals, known, snapshot, clock } = options;
  // Whether a limit covers a pod is known only after the limits have been read.
  if (!known.limits.isSynced() || !known.policies.isSynced()) return [];
  const due = removals.dueDebits(clock.now(), { most: MAX_DEBITED, left: failedAt });
  if (due.length === 0) return [];
  const limitsOf = limitsByNamespace(limitObjects(known), snapshot);
  const isCovered = (each: PendingDebit): boolean => rulesOf(each, limitsOf(each.namespace)).length > 0;
  removals.debits.done(due.filter((each) => !isCovered(each)).map(({ uid }) => uid));
  const byNamespace = Map.groupBy(due.filter(isCovered), ({ namespace }) => namespace);
  return Array.from(byNamespace, ([namespace, pending]) => ({ namespace, pending, limits: limitsOf(namespace) })).slice(
    0,
    MAX_NAMESPACES,
  );
}

interface NamespaceDebits {
  readonly namespace: string;
  readonly pending: readonly PendingDebit[];
  readonly limits: LimitsOfNamespace;
}

/**
 * Whether the account was written. If the account of a namespace cannot be written, for example because the namespace
 * was deleted, no other namespace waits for it.
 */
async function debitNamespace(debits: NamespaceDebits, options: DebitOptions): Promise<boolean> {
  const { clock, removals, log } = options;
  const { namespace, pending } = debits;
  const giveUpAt = clock.monotonic() + WITHIN_MS;
  const leftMs = (): number => Math.max(0, giveUpAt - clock.monotonic());
  const decide = (stored: StoredStatus<Account>) => Promise.resolve(countAll(stored, debits, clock.now()));
  const faults = faultLog(log, 'Removed pods not debited');
  try {
    const account = await compareAndSwap({ ...accountStore(namespace, options), decide, leftMs });
    if (account === undefined) return false;
    const uids = new Set(pending.map(({ uid }) => uid));
    for (const debit of account) if (uids.has(debit.uid)) removals.adoptDebit(debit);
    removals.debits.done(uids);
    faults.worked(namespace);
    return true;
  } catch (error) {
    faults.threw(namespace, error);
    return false;
  }
}

/** Reads and writes the account of a namespace. */
export function accountStore(namespace: string, { client }: Pick<DebitOptions, 'client'>) {
  const address = { resource: DISRUPTION_ACCOUNTS, namespace, name: DISRUPTION_ACCOUNT };
  return statusStore({ client, fieldManager: COMPONENT_NAMES.scheduler }, address, FORMAT);
}

function countAll(stored: StoredStatus<Account>, { pending, limits }: NamespaceDebits, now: Instant) {
  const value = pending.reduce<Account>(
    (account, each) => {
      const { cause } = causeOf(each.evidence);
      const { uid, pod, at } = each;
      const seen = { uid, pod, at, cause, component: componentOf(cause), caller: undefined };
      return countRemoval(account, seen, coveringRules(each, [], limits));
    },
    withoutSurplus(stored.value, limits, now),
  );
  return { next: value === stored.value ? undefined : { ...stored, value }, result: value };
}
