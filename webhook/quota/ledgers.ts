import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { LedgerPart } from '#shared/domain/quota/replica/event.ts';
import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import type { LedgerView } from '#shared/domain/quota/replica/replica.ts';
import { unstatedName } from '#shared/domain/quota/charge.ts';
import { QuotaCounter, type UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
import type { HealthCheck } from '#shared/http/health.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import { readRevision } from '#shared/kube/kube-object.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { nextTurn } from '#shared/runtime/turns/turns.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { CachedNamespace, CachedQuota } from '#webhook/cluster-state/caches.ts';
import { ERRORS, LOG } from '#webhook/messages.ts';
import type { PodView } from '#shared/domain/quota/view/pod-view.ts';
import { parseItem } from '#shared/kube/list/list-scanner.ts';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';
import { readPages } from '#shared/kube/reflector/read-list.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { isOn, NAMESPACE_SWITCHES, queriesFor } from '#shared/kube/namespace-switches.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { reportRounds } from '#shared/runtime/fault-log.ts';
import { PodInformer } from './pod-informer.ts';
import { createLedgerStore } from './ledger-store.ts';
import { QuotaLedger } from './quota-ledger.ts';

const PAGE_SIZE = 500;

/** Keeps the view's namespaces equal to those in which quotas are enforced, following the cache. */
function followNamespaces(namespaces: Reflector<CachedNamespace>, view: PodView, changed: () => void): void {
  const take = (namespace: CachedNamespace): void => {
    if (isOn(NAMESPACE_SWITCHES.quotas, namespace.labels)) view.addNamespace(namespace);
    else view.removeNamespace(namespace.name);
  };
  for (const namespace of namespaces.values()) take(namespace);
  namespaces.onChange(({ kind, value }) => {
    if (kind === 'deleted') view.removeNamespace(value.name);
    else take(value);
    changed();
  });
}

/**
 * Whether a view has every namespace in which quotas are enforced according to storage. Rejects if the namespaces
 * cannot be read.
 */
async function areNamespacesKnown(
  { client, clock, view }: { readonly client: KubeClient; readonly clock: Clock; readonly view: PodView },
  signal: AbortSignal,
): Promise<boolean> {
  const source = { client, clock, resource: NAMESPACES };
  let areKnown = true;
  const readFor = async (labelSelector: string): Promise<void> => {
    const limits = { pageSize: createPageSize(PAGE_SIZE), signal };
    const pages = await readPages({ ...source, labelSelector }, limits, (json) => {
      areKnown &&= isKnown(view, parseItem(json));
    });
    if (pages.kind === 'read') return;
    throw new Error(ERRORS.list('namespaces', pages.kind === 'refused' ? pages.failure.message : pages.kind));
  };
  await Promise.all(queriesFor(NAMESPACE_SWITCHES.quotas).map(readFor));
  return areKnown;
}

function isKnown(view: PodView, raw: unknown): boolean {
  const metadata = fieldOf(raw, 'metadata');
  const known = view.namespaces.get(String(fieldOf(metadata, 'name')));
  const revision = readRevision(String(fieldOf(metadata, 'resourceVersion')));
  return known !== undefined && revision !== undefined && known.revision >= revision;
}

export interface LedgersOptions extends ClientContext {
  readonly quotas: Reflector<CachedQuota>;
  readonly namespaces: Reflector<CachedNamespace>;
  /** How long a pod may take to appear after its admission; longer than the API server's request timeout. */
  readonly reservationMs: number;
  /** A replica younger than this charges every pod with a write. */
  readonly sliceAfterMs: number;
}

const RECONCILE_EVERY_MS = 1_000;
/** Delay until changes of the pods are observed. */
const OBSERVE_MS = 25;
const RECONCILE_DEADLINE_MS = 30_000;
const SLICE_LIFE_MS = 10_000;
const HOLDER_LENGTH = 8;
const NOTHING_OBSERVED: ObservedQuota = { uid: '', generation: 0, slices: new Map() };

interface KeptLedger {
  readonly ledger: QuotaLedger;
  readonly counter: QuotaCounter;
}

/** The ledgers of all PriorityQuotas and the view of pods that they share. */
export class Ledgers {
  readonly #options: LedgersOptions;
  readonly #pods: PodInformer;
  readonly #ledgers = new Map<string, KeptLedger>();
  readonly #bornAt: number;
  readonly #metrics: ReturnType<typeof ledgerMetrics>;
  #hasReconciled = false;
  #isObserving = false;
  #haveCounted = false;

  constructor(options: LedgersOptions) {
    const { client, quotas, namespaces, clock, metrics } = options;
    this.#options = options;
    this.#bornAt = clock.monotonic();
    this.#metrics = ledgerMetrics(metrics);
    this.#pods = new PodInformer({
      ...options,
      chargedNames: () =>
        [...new Set([...quotas.values()].flatMap(({ hard }) => [...hard.keys()].flatMap(namesToKeep)))].sort(),
      areNamespacesKnown: (signal) => areNamespacesKnown({ client, clock, view: this.#pods.view }, signal),
    });
    followNamespaces(namespaces, this.#pods.view, () => this.#pods.namespacesChanged());
    quotas.onChange(({ key }) => this.#ledgers.get(key)?.ledger.observe());
    this.#pods.onAdvance(() => void this.#observeSoon());
  }

  /** Ready once the pods of every quota have been counted for the first time. */
  readonly check: HealthCheck = {
    name: 'ledger',
    problem: () => {
      this.#haveCounted ||= this.#hasReconciled && [...this.#ledgers.values()].every(({ ledger }) => ledger.hasCounted);
      return this.#haveCounted ? undefined : ERRORS.uncountedQuotas();
    },
  };

  ledger(name: string): QuotaLedger {
    const found = this.#ledgers.get(name) ?? this.#create(name);
    this.#ledgers.set(name, found);
    return found.ledger;
  }

  /** Same as `QuotaLedger.uncharged`. */
  uncharged(name: string): UnchargedPods | undefined {
    return this.#ledgers.get(name)?.ledger.uncharged;
  }

  /** Follows the pods and reconciles every quota, so that errors are corrected even without requests. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const reconciling = {
      task: () => this.#reconcile(),
      periodMs: RECONCILE_EVERY_MS,
      deadlineMs: RECONCILE_DEADLINE_MS,
      ...reportRounds(log, LOG.reconciliationFailed),
      clock,
    };
    await Promise.all([repeat(reconciling, signal), this.#pods.run(signal)]);
  }

  /** Releases the slices of this replica; call it when no more requests arrive. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#ledgers.values(), ({ ledger }) => ledger.close()));
  }

  async #reconcile(): Promise<void> {
    const names = new Set([...this.#options.quotas.values()].map(({ name }) => name));
    for (const name of this.#ledgers.keys()) if (!names.has(name)) this.#drop(name);
    for (const name of names) this.ledger(name);
    await this.#eachInTurn((ledger) => ledger.tick());
    this.#hasReconciled = true;
  }

  /** Once for all changes within a short time: one observation costs as much as hundreds of changes. */
  async #observeSoon(): Promise<void> {
    if (this.#isObserving) return;
    this.#isObserving = true;
    await this.#options.clock.sleep(OBSERVE_MS);
    this.#isObserving = false;
    await this.#eachInTurn((ledger) => ledger.observe());
  }

  /** Yields between two ledgers, and between two parts of a count, so that requests are not delayed. */
  async #eachInTurn(work: (ledger: QuotaLedger) => void): Promise<void> {
    for (const [name, { ledger, counter }] of [...this.#ledgers]) {
      while (!counter.takeUp()) await nextTurn();
      if (this.#ledgers.get(name)?.ledger === ledger) work(ledger);
      await nextTurn();
    }
  }

  #drop(name: string): void {
    this.#ledgers.get(name)?.counter.close();
    this.#ledgers.delete(name);
  }

  #create(name: string): KeptLedger {
    const { client, clock, quotas } = this.#options;
    const counter = new QuotaCounter(this.#pods.view);
    const ledger = new QuotaLedger({
      ...this.#options,
      // Unique per process and quota.
      holder: `${hostname()}-${randomUUID().slice(0, HOLDER_LENGTH)}`,
      store: createLedgerStore(client, name, (parts) => this.#reportLost(name, parts)),
      view: this.#viewOf(counter),
      observed: () => quotas.get(name) ?? NOTHING_OBSERVED,
      sliceLifeMs: SLICE_LIFE_MS,
      sliceAfterMs: Math.max(0, this.#options.sliceAfterMs - (clock.monotonic() - this.#bornAt)),
      prove: () => this.#pods.prove(),
      charged: (path) => this.#metrics.charges.add({ path }),
      recounted: (result) => this.#metrics.recounts.add({ result }),
    });
    return { ledger, counter };
  }

  #reportLost(quota: string, parts: readonly LedgerPart[]): void {
    const { log } = this.#options;
    log.warn({ quota, parts }, LOG.ledgerPruned);
  }

  #viewOf(counter: QuotaCounter): LedgerView {
    const pods = this.#pods;
    return {
      count: ({ quota, uid, generation }) => {
        const count = counter.count(quota, `${uid} ${generation}`, this.#namespacesReached());
        if (!counter.isTakenUp) void this.#observeSoon();
        return count;
      },
      isNameTaken: (namespace, name) => pods.view.named(namespace, name) !== undefined,
      isGone: (uid) => pods.view.isGone(uid),
      get provenAt() {
        return pods.provenAt;
      },
    };
  }

  #namespacesReached(): number {
    return readRevision(this.#options.namespaces.position()) ?? 0;
  }
}

function namesToKeep(resource: string): readonly string[] {
  const unstated = unstatedName(resource);
  return unstated === undefined ? [resource] : [resource, unstated];
}

function ledgerMetrics(metrics: Metrics) {
  const recounts = metrics.counter('plimsoll_quota_recounts_total', 'Recounts of a PriorityQuota from existing pods', [
    'result',
  ]);
  for (const result of ['done', 'failed']) recounts.add({ result }, 0);
  return {
    recounts,
    charges: metrics.counter(
      'plimsoll_quota_charges_total',
      'Charges to a PriorityQuota, by path: a write of the ledger, or a slice',
      ['path'],
    ),
  };
}
