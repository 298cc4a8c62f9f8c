import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { podUidOf } from '#shared/domain/quota/ledger-state.ts';
import type { HealthCheck } from '#shared/http/health.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import type { Reflector } from '#shared/kube/reflector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { CachedQuota } from '#webhook/caches.ts';
import { countPods } from './count-pods.ts';
import { createEndedPods } from './ended-pods.ts';
import { createLedgerStore } from './ledger-store.ts';
import type { QuotaNews } from './own-slice.ts';
import type { LedgerPart } from './stored-parts.ts';
import { createQuotaLedger, type QuotaLedger } from './quota-ledger.ts';

export interface LedgersOptions {
  readonly client: KubeClient;
  readonly quotas: Reflector<CachedQuota>;
  /** How long a pod may take to appear after it was admitted; more than the API server gives a request. */
  readonly reservationMs: number;
  /** A replica younger than this charges every pod by a write of its own. */
  readonly sliceAfterMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The ledgers of all PriorityQuotas. */
export interface Ledgers {
  ledger(name: string): QuotaLedger;
  /** Counts every quota now and then, so that what is wrong heals without anybody asking. */
  run(signal: AbortSignal): Promise<void>;
  /** Gives back what only this replica could spend; to be called when no request comes any more. */
  close(): Promise<void>;
  /** Holds once every quota has been counted. */
  readonly check: HealthCheck;
}

const LOOK_EVERY_MS = 1_000;
const LOOK_DEADLINE_MS = 30_000;
const SLICE_LIFE_MS = 10_000;
const HOLDER_LENGTH = 8;
const NO_NEWS: QuotaNews = { uid: '', generation: 0, slices: new Map() };
/** With nothing open, with something, and with so many that the list might fill up. */
const COUNT_EVERY_MS = { idle: 30_000, open: 5_000, crowded: 1_000 } as const;
const CROWDED = 300;

interface Kept {
  readonly ledger: QuotaLedger;
  countedAt: number;
  /** Replicas that started together shall not count together for ever. */
  spread: number;
}

export function createLedgers(options: LedgersOptions): Ledgers {
  const { client, quotas, clock, random, log, metrics } = options;
  const bornAt = clock.monotonic();
  const ended = createEndedPods({ ...options, isNeeded: () => quotas.size > 0 });
  const all = new Map<string, Kept>();
  let isCounted = false;
  const counts = metrics.counter(
    'plimsoll_quota_recounts_total',
    'Counts of a PriorityQuota from the pods that exist',
    ['result'],
  );
  const charges = metrics.counter(
    'plimsoll_quota_charges_total',
    'Charges to a PriorityQuota, by whether they took a write of the ledger or came out of a slice',
    ['path'],
  );
  quotas.onChange(({ key }) => all.get(key)?.ledger.tend());

  function keep(name: string): Kept {
    const found = all.get(name) ?? { ledger: create(name), countedAt: -Infinity, spread: 1 };
    all.set(name, found);
    return found;
  }

  function create(name: string): QuotaLedger {
    // Never the same twice, also when the process is the same and the quota another.
    const holder = `${hostname()}-${randomUUID().slice(0, HOLDER_LENGTH)}`;
    return createQuotaLedger({
      ...options,
      store: createLedgerStore(client, name, (parts) => tellLost(name, parts)),
      countPods: (quota) => countPods(client, quota),
      hasEnded: (reservationUid) => ended.has(podUidOf(reservationUid)),
      holder,
      news: () => quotas.get(name) ?? NO_NEWS,
      sliceLifeMs: SLICE_LIFE_MS,
      sliceAfterMs: Math.max(0, options.sliceAfterMs - (clock.monotonic() - bornAt)),
      charged: (path) => charges.add({ path }),
    });
  }

  function tellLost(quota: string, parts: readonly LedgerPart[]): void {
    log.warn({ quota, parts }, 'Ledger is not stored as it was written: the CustomResourceDefinition is outdated');
  }

  async function look(): Promise<void> {
    const names = new Set([...quotas.values()].map(({ name }) => name));
    for (const name of all.keys()) if (!names.has(name)) all.delete(name);
    for (const { ledger } of all.values()) ledger.tend();
    const due = [...names].filter((name) => isDue(keep(name)));
    const results = await Promise.all(due.map(countOne));
    isCounted ||= results.every(Boolean);
  }

  /** Asked anew at every look: what is reserved meanwhile makes the next count come sooner. */
  function isDue({ ledger, countedAt, spread }: Kept): boolean {
    return clock.monotonic() - countedAt >= pauseAfter(ledger) * spread;
  }

  async function countOne(name: string): Promise<boolean> {
    const kept = keep(name);
    try {
      await kept.ledger.recount();
      counts.add({ result: 'done' });
      return true;
    } catch (error) {
      counts.add({ result: 'failed' });
      log.warn({ err: error, quota: name }, 'Could not count a quota');
      return false;
    } finally {
      kept.countedAt = clock.monotonic();
      kept.spread = 0.75 + random() / 2;
    }
  }

  const looking = {
    task: look,
    periodMs: LOOK_EVERY_MS,
    deadlineMs: LOOK_DEADLINE_MS,
    onError: (error: unknown) => log.error({ err: error }, 'Could not look after the quotas'),
    clock,
  };
  return {
    ledger: (name) => keep(name).ledger,
    run: async (signal) => {
      await Promise.all([repeat(looking, signal), ended.run(signal)]);
    },
    close: async () => {
      await Promise.all(Array.from(all.values(), ({ ledger }) => ledger.close()));
    },
    check: { name: 'ledger', problem: () => (isCounted ? undefined : 'quotas have not been counted yet') },
  };
}

function pauseAfter(ledger: QuotaLedger): number {
  const open = ledger.open();
  if (open === 0) return COUNT_EVERY_MS.idle;
  return open < CROWDED ? COUNT_EVERY_MS.open : COUNT_EVERY_MS.crowded;
}
