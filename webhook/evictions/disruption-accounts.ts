import { decodeAccount, encodeAccount } from '#shared/api/disruption-account.ts';
import {
  type Account,
  countRemoval,
  debitEviction,
  type Exceeded,
  SETTLED_MS,
  type Wanted,
  withoutSurvivors,
} from '#shared/domain/disruption/account.ts';
import type { CoveringRule } from '#shared/domain/disruption/limit-rule.ts';
import { withoutSurplus } from '#shared/domain/disruption/needed-debits.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { compareAndSwap, statusStore, type StoredStatus } from '#shared/kube/client/compare-and-swap.ts';
import { COMPONENT_NAMES, DISRUPTION_ACCOUNT } from '#shared/kube/api-names.ts';
import { DISRUPTION_ACCOUNTS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { type NamespaceLimits, limitsNothing } from '#webhook/cluster-state/limit-caches.ts';
import { readBudgets, readCoverage, readLimits, refusingBudget, type StoredLimits } from './covering-limits.ts';
import { findSurvivors } from './read-eviction.ts';

/** A requested removal. */
export interface AskedRemoval extends Pick<Wanted, 'component' | 'caller'> {
  readonly pod: Pod;
  /** `evict` may be refused; `overrun` is debited beyond the limit; `count` is always debited. */
  readonly kind: 'evict' | 'overrun' | 'count';
  readonly isDryRun: boolean;
  /** The reads that were started for it. */
  readonly begun?: BegunReads | undefined;
  /** By the monotonic clock. */
  readonly giveUpAt: number;
}

/** Reads that do not depend on the pod. */
export interface BegunReads {
  readonly budgets: Promise<readonly DisruptionBudget[]>;
  readonly account?: Promise<StoredStatus<Account>>;
}

/** The outcome; `unclear`: it could not be determined in time. */
export type Debited =
  | { readonly kind: 'debited'; readonly overran: Exceeded | undefined }
  | Exceeded
  /** The API server would refuse the eviction for this PodDisruptionBudget, so it is not debited. */
  | { readonly kind: 'budgetSpent'; readonly budget: string }
  | { readonly kind: 'unclear'; readonly message: string };

/** Debits removals to the accounts of their namespaces, across all replicas. */
export interface DisruptionAccounts {
  /**
   * Whether it is certain that no limit applies to removals in a namespace. Throws if an object cannot be read that
   * could be a limit.
   */
  limitsNothing(namespace: string): boolean;
  /** Starts to read what a debit needs while its pod is still being read; `undefined` if another read has started. */
  begin(namespace: string, giveUpAt: number): BegunReads | undefined;
  /** Never rejects; returns by `giveUpAt`, or a little later. */
  debit(asked: AskedRemoval): Promise<Debited>;
  /** Reverts a debit whose eviction was refused after all. Never rejects: a later check reverts it too. */
  withdraw(asked: AskedRemoval): Promise<void>;
}

/**
 * A removal that may exceed limits does not fail on a limit that cannot be read: otherwise such a limit would make pods
 * immune.
 */
function beyondDoubt({ kind }: AskedRemoval, debited: Debited): Debited {
  return kind === 'overrun' && debited.kind === 'unclear' ? { kind: 'debited', overran: undefined } : debited;
}

interface Waiting {
  readonly asked: AskedRemoval;
  readonly settle: (debited: Debited) => void;
}

/** Removals of one namespace share writes, so many need only a few. */
const MAX_IN_BATCH = 32;
const MAX_WAITING = 512;
const FORMAT = { decode: decodeAccount, encode: encodeAccount, empty: [] };

export interface AccountsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The known limits of a namespace; if they are not known, or without this function, they are read. */
  readonly knownLimits?: (namespace: string) => NamespaceLimits | undefined;
}

/** The accounts, each changed by compare-and-swap. Removals that arrive during a write share the next one. */
export function createDisruptionAccounts(options: AccountsOptions): DisruptionAccounts {
  const waiting = new Map<string, Waiting[]>();
  const beginning = new Set<string>();
  const debits = options.metrics.counter(
    'plimsoll_disruption_limit_debits_total',
    'Evictions and deletions checked against disruption limits, by outcome',
    ['result'],
  );
  for (const result of ['debited', 'exceeded', 'overran', 'budgetSpent', 'unclear']) debits.add({ result }, 0);
  const work = async (namespace: string, queue: Waiting[]): Promise<void> => {
    while (queue.length > 0) await settleBatch(queue.splice(0, MAX_IN_BATCH), options);
    waiting.delete(namespace);
  };
  const enter = (asked: AskedRemoval): Promise<Debited> =>
    new Promise((settle) => {
      const { namespace } = asked.pod;
      const queue = waiting.get(namespace);
      const entry = { asked, settle };
      if (queue !== undefined && queue.length >= MAX_WAITING) settle(unclear('too many removals are being counted'));
      // The current write makes earlier reads outdated.
      else if (queue !== undefined) queue.push({ ...entry, asked: { ...asked, begun: undefined } });
      else {
        const begun = [entry];
        waiting.set(namespace, begun);
        void work(namespace, begun);
      }
    });
  return {
    limitsNothing: (namespace) => isUnlimited(options.knownLimits?.(namespace)),
    begin: (namespace, giveUpAt) => {
      if (waiting.has(namespace) || beginning.has(namespace)) return undefined;
      beginning.add(namespace);
      const reads = beginReads(namespace, giveUpAt, options);
      // An early failure is reported when the result is requested.
      void Promise.allSettled(Object.values(reads)).then(() => beginning.delete(namespace));
      return reads;
    },
    debit: async (asked) => {
      const debited = await enter(asked);
      const isOverrun = debited.kind === 'debited' && debited.overran !== undefined;
      debits.add({ result: isOverrun ? 'overran' : debited.kind });
      return beyondDoubt(asked, debited);
    },
    withdraw: ({ pod, giveUpAt }) => withdraw(pod, giveUpAt, options),
  };
}

/** Never rejects. */
async function settleBatch(batch: readonly Waiting[], options: AccountsOptions): Promise<void> {
  const results = await debitBatch(batch, options).catch((error: unknown) => unclear(errorText(error)));
  batch.forEach(({ settle, asked }, index) => {
    if (!isList(results)) settle(results);
    else settle(results[index] ?? unclear(`the count of ${asked.pod.name} was lost`));
  });
}

function isList(results: Debited | readonly Debited[]): results is readonly Debited[] {
  return Array.isArray(results);
}

async function debitBatch(batch: readonly Waiting[], options: AccountsOptions): Promise<Debited | readonly Debited[]> {
  const { client, clock } = options;
  const [first] = batch;
  if (first === undefined) return [];
  const { namespace } = first.asked.pod;
  const leftMs = leftUntil(Math.max(...batch.map(({ asked }) => asked.giveUpAt)), clock);
  if (leftMs() === 0) return unclear('the count was not settled in time');
  const known = options.knownLimits?.(namespace);
  if (isUnlimited(known)) return batch.map(() => ({ kind: 'debited', overran: undefined }) as const);
  const begun = batch.map(({ asked }) => asked.begun).find((each) => each !== undefined);
  const store = storeOf(namespace, client);
  // Does not depend on the limits.
  const read = beganWith(begun?.account ?? store.read(leftMs()), store.read);
  const limits = await readLimits(client, namespace, Math.max(1, leftMs()), { limits: known, budgets: begun?.budgets });
  const pods = batch.map(({ asked }) => asked.pod);
  const coverage = await readCoverage(client, pods, limits, Math.max(1, leftMs()));
  const decide = (stored: StoredStatus<Account>) =>
    decideBatch(stored, batch, { ...options, coverage, limits, leftMs });
  const results = await compareAndSwap({ ...store, read, decide, leftMs, pause: (ms) => clock.sleep(ms) });
  return results ?? unclear('the count was not settled in time');
}

function isUnlimited(known: NamespaceLimits | undefined): boolean {
  return known !== undefined && limitsNothing(known);
}

function beginReads(namespace: string, giveUpAt: number, { client, clock }: AccountsOptions): BegunReads {
  const leftMs = Math.max(1, leftUntil(giveUpAt, clock)());
  return { budgets: readBudgets(client, namespace, leftMs), account: storeOf(namespace, client).read(leftMs) };
}

/** The first read was started early; later ones read again. */
function beganWith<T>(begun: Promise<T>, read: (timeoutMs: number) => Promise<T>): (timeoutMs: number) => Promise<T> {
  let first: Promise<T> | undefined = begun;
  // An early failure is reported when the result is requested.
  begun.catch(() => undefined);
  return (timeoutMs) => {
    const next = first ?? read(timeoutMs);
    first = undefined;
    return next;
  };
}

function storeOf(namespace: string, client: KubeClient) {
  return accountStore(client, { namespace, name: DISRUPTION_ACCOUNT });
}

/** Reads and writes an account for `compareAndSwap`; it is created with the first write. */
export function accountStore(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
) {
  const address = { resource: DISRUPTION_ACCOUNTS, namespace, name };
  return statusStore({ client, fieldManager: COMPONENT_NAMES.webhook }, address, FORMAT);
}

interface BatchContext extends AccountsOptions {
  readonly coverage: ReadonlyMap<Pod, readonly CoveringRule[]>;
  readonly limits: StoredLimits;
  readonly leftMs: () => number;
}

async function decideBatch(stored: StoredStatus<Account>, batch: readonly Waiting[], context: BatchContext) {
  const now = context.clock.now();
  let account = withoutSurplus(stored.value, context.limits, now);
  const result: Debited[] = [];
  for (const { asked } of batch) {
    const debited = await debitOne(account, asked, now, context);
    result.push(debited.outcome);
    ({ account } = debited);
  }
  return { next: account === stored.value ? undefined : { ...stored, value: account }, result };
}

/** If a limit seems reached, it is checked again without the evictions that were not carried out. */
async function debitOne(account: Account, asked: AskedRemoval, now: Instant, context: BatchContext) {
  const rules = context.coverage.get(asked.pod) ?? [];
  const wanted = wantedOf(asked, now);
  if (asked.kind === 'count') return debitedAs(countRemoval(account, wanted, rules), undefined);
  const budget = refusingBudget(asked.pod, context.limits);
  if (budget !== undefined) return { account, outcome: { kind: 'budgetSpent', budget: budget.name } } as const;
  const first = debitEviction(account, wanted, rules);
  if (first.kind === 'debited') return debitedAs(asked.isDryRun ? account : first.account, undefined);
  const others = await withoutFailed(account, first, now, context);
  const outcome = debitEviction(others, wanted, rules, asked.kind === 'overrun');
  if (outcome.kind === 'exceeded') return { account, outcome };
  return debitedAs(asked.isDryRun ? account : outcome.account, outcome.overran);
}

function debitedAs(
  account: Account,
  overran: Exceeded | undefined,
): { readonly account: Account; readonly outcome: Debited } {
  return { account, outcome: { kind: 'debited', overran } };
}

async function withoutFailed(
  account: Account,
  { filledBy }: Exceeded,
  now: Instant,
  { client, leftMs, coverage }: BatchContext,
): Promise<Account> {
  const namespace = [...coverage.keys()][0]?.namespace ?? '';
  const settled = filledBy.filter(({ at, cause }) => cause === undefined && now - at >= SETTLED_MS);
  if (settled.length === 0) return account;
  const found = await findSurvivors(
    client,
    settled.map(({ uid, pod }) => ({ namespace, pod, uid })),
    Math.max(1, leftMs()),
  );
  return withoutSurvivors(account, found, now);
}

function wantedOf({ pod, component, caller }: AskedRemoval, at: Instant): Wanted {
  return { uid: pod.uid, pod: pod.name, at, component, caller, cause: undefined };
}

async function withdraw({ namespace, uid }: Pod, giveUpAt: number, { client, clock }: AccountsOptions): Promise<void> {
  const decide = (stored: StoredStatus<Account>) => {
    const value = stored.value.filter((each) => each.uid !== uid || each.cause !== undefined);
    return Promise.resolve({
      next: value.length === stored.value.length ? undefined : { ...stored, value },
      result: true,
    });
  };
  const swap = {
    ...storeOf(namespace, client),
    decide,
    leftMs: leftUntil(giveUpAt, clock),
  };
  await compareAndSwap(swap).catch(() => undefined);
}

function leftUntil(giveUpAt: number, clock: Pick<Clock, 'monotonic'>): () => number {
  return () => Math.max(0, giveUpAt - clock.monotonic());
}

function unclear(message: string): Debited {
  return { kind: 'unclear', message };
}
