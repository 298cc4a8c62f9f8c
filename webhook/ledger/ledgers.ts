import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { HealthCheck } from '#shared/http/health.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import type { Reflector } from '#shared/kube/reflector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { createLedgerStore } from './ledger-store.ts';
import { listCountedPods } from './list-counted-pods.ts';
import { createQuotaLedger, type QuotaLedger } from './quota-ledger.ts';

export interface LedgersOptions {
  readonly client: KubeClient;
  readonly quotas: Reflector<PriorityQuota>;
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
  /** Holds once every quota has been counted. */
  readonly check: HealthCheck;
}

const LOOK_EVERY_MS = 1_000;
const LOOK_DEADLINE_MS = 30_000;
/** Without reservations, with some, and with so many that the list might fill up. */
const COUNT_EVERY_MS = { idle: 30_000, open: 5_000, crowded: 1_000 } as const;
const CROWDED = 300;

export function createLedgers(options: LedgersOptions): Ledgers {
  const { client, quotas, clock, random, log, metrics } = options;
  const ledgers = new Map<string, QuotaLedger>();
  const nextCountAt = new Map<string, number>();
  let isCounted = false;
  const counts = metrics.counter(
    'plimsoll_quota_recounts_total',
    'Counts of a PriorityQuota from the pods that exist',
    ['result'],
  );

  function ledger(name: string): QuotaLedger {
    const found = ledgers.get(name) ?? create(name);
    ledgers.set(name, found);
    return found;
  }

  function create(name: string): QuotaLedger {
    return createQuotaLedger({
      store: createLedgerStore(client, name),
      listPods: (quota) => listCountedPods(client, quota),
      clock,
      random,
    });
  }

  async function look(): Promise<void> {
    const names = new Set([...quotas.values()].map(({ name }) => name));
    for (const name of ledgers.keys()) if (!names.has(name)) ledgers.delete(name);
    const due = [...names].filter((name) => clock.monotonic() >= (nextCountAt.get(name) ?? 0));
    const results = await Promise.all(due.map(countOne));
    isCounted ||= results.every(Boolean);
  }

  async function countOne(name: string): Promise<boolean> {
    try {
      await ledger(name).recount();
      counts.add({ result: 'done' });
      return true;
    } catch (error) {
      counts.add({ result: 'failed' });
      log.warn({ err: error, quota: name }, 'Could not count a quota');
      return false;
    } finally {
      // Replicas that started together shall not count together for ever.
      nextCountAt.set(name, clock.monotonic() + pauseAfter(ledger(name)) * (0.75 + random() / 2));
    }
  }

  return {
    ledger,
    run: (signal) =>
      repeat(
        {
          task: look,
          periodMs: LOOK_EVERY_MS,
          deadlineMs: LOOK_DEADLINE_MS,
          onError: (error) => log.error({ err: error }, 'Could not look after the quotas'),
          clock,
        },
        signal,
      ),
    check: { name: 'ledger', problem: () => (isCounted ? undefined : 'quotas have not been counted yet') },
  };
}

function pauseAfter(ledger: QuotaLedger): number {
  const open = ledger.openReservations();
  if (open === 0) return COUNT_EVERY_MS.idle;
  return open < CROWDED ? COUNT_EVERY_MS.open : COUNT_EVERY_MS.crowded;
}
