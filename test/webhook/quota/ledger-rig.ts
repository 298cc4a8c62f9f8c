import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { LedgerWrite, Read, LedgerWritten } from '#shared/domain/quota/replica/event.ts';
import type { LedgerView } from '#shared/domain/quota/replica/replica.ts';
import type { ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import {
  decodeLedgerObject,
  withLedger,
  type LedgerObject,
  writtenAs,
  type LedgerStore,
} from '#webhook/quota/ledger-store.ts';
import { QuotaLedger, type QuotaLedgerOptions } from '#webhook/quota/quota-ledger.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf, type CountedPod } from '#test/build/pod-count.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const NO_ANSWER = { kind: 'trouble', message: 'no answer' } as const;
/** No reservation whose UID begins like this can be stored. */
const POISON = 'poison';
const REFUSED = { kind: 'refused', message: 'status.reservations[0].uid: too long' } as const;

export function reservation(uid: string, memory = '1Gi'): Reservation {
  const amounts = amountsOf({ pods: '1', memory });
  return { uid, namespace: 'team-a', pod: uid, amounts, admittedAt: 0, claim: `of ${uid}` };
}

export function pod(uid: string, memory = '1Gi'): CountedPod {
  return { uid, namespace: 'team-a', amounts: amountsOf({ pods: '1', memory }) };
}

export function decode(raw: unknown): LedgerObject {
  const decoded = decodeLedgerObject(raw as LedgerObject['raw']);
  if (!decoded.ok) throw new Error(decoded.field);
  return decoded.value;
}

/** What one replica sees of the pods. */
export interface RigView extends LedgerView {
  /** Instead of all that are there: as a watch that lags behind shows them. */
  pods: readonly CountedPod[] | undefined;
  reached: ViewRevision;
  /** Nothing where the pods have not been listed. */
  isFilled: boolean;
  provenAt: number;
}

export type LedgerRig = ReturnType<typeof createLedgerRig>;

/** One ledger object with room for 4Gi of memory, a cluster of pods, and replicas that share them. */
export function createLedgerRig() {
  const manual = manualClock(0);
  const ended = new Set<string>();
  let version = 1;
  let last = 0;

  const rig = {
    clock: manual,
    ended,
    object: decode({
      metadata: { name: 'q', uid: 'u', generation: 1, resourceVersion: '1' },
      spec: { priorityClassNames: ['high'], hard: { memory: '4Gi' } },
      status: { observedGeneration: 1, used: { memory: '0' } },
    }),
    pods: [] as CountedPod[],
    /** What every view has reached unless a test says otherwise. */
    revision: 1,
    /** Whether the API server answers questions for a proof. */
    isProving: true,
    writes: 0,
    reads: 0,
    /** Fields of the status that the CRD does not name. */
    unnamed: [] as string[],
    /** What the next writes answer instead; `applied` takes effect all the same, `late` does so after three seconds. */
    faults: [] as ('lost' | 'applied' | 'late')[],
    store,
    view,
    ledger,
    reserve,
    recount,
    setLimits,
    recreate,
    used,
    slices,
    reserved,
  };

  function store(): LedgerStore {
    return {
      read: () => {
        rig.reads += 1;
        return Promise.resolve<Read>({ kind: 'read', version: rig.object });
      },
      write: async (change) => {
        rig.writes += 1;
        if ([...change.state.reservations.keys()].some((uid) => uid.startsWith(POISON))) return REFUSED;
        const fault = rig.faults.shift();
        if (fault === 'lost') return NO_ANSWER;
        if (fault === 'late') await manual.sleep(3_000);
        const written = write(change);
        return fault === 'applied' ? NO_ANSWER : written;
      },
    };
  }

  /** Stored as JSON, as the API server does, and without what its CRD does not name. */
  function write(change: LedgerWrite): LedgerWritten {
    const next = withLedger(change);
    const { raw } = next;
    if (raw.metadata.resourceVersion !== rig.object.raw.metadata.resourceVersion) return { kind: 'conflict' };
    version += 1;
    const named = Object.entries(raw['status'] ?? {}).filter(([part]) => !rig.unnamed.includes(part));
    const metadata = { ...raw.metadata, resourceVersion: String(version) };
    const stored = JSON.parse(JSON.stringify({ ...raw, metadata, status: Object.fromEntries(named) })) as typeof raw;
    rig.object = decode(stored);
    return writtenAs(next, stored);
  }

  /** As when the quota is deleted and made anew. */
  function recreate(): void {
    const { metadata } = rig.object.raw;
    version += 1;
    const status = undefined;
    rig.object = decode({
      ...rig.object.raw,
      metadata: { ...metadata, uid: `u-${version}`, resourceVersion: String(version) },
      status,
    });
  }

  function view(): RigView {
    const seen: RigView = {
      pods: undefined,
      reached: { pods: Infinity, namespaces: Infinity },
      isFilled: true,
      provenAt: -Infinity,
      count: ({ quota }) => {
        if (!seen.isFilled) return undefined;
        const { revision } = rig;
        const count = countOf(quota.hard, seen.pods ?? rig.pods);
        return { ...count, reached: seen.reached, holds: { pods: revision, namespaces: 1 } };
      },
      isNameTaken: () => false,
      isGone: (uid) => ended.has(uid),
    };
    return seen;
  }

  /** A replica, by default without slices, that observes a change of the object at once. */
  function ledger(options: Partial<QuotaLedgerOptions> & { readonly view?: RigView } = {}): QuotaLedger {
    const seen = options.view ?? view();
    const created = new QuotaLedger({
      store: store(),
      reservationMs: 120_000,
      holder: `replica-${(last += 1)}`,
      observed: () => ({ uid: rig.object.uid, generation: rig.object.generation, slices: rig.object.state.slices }),
      sliceAfterMs: Infinity,
      sliceLifeMs: 10_000,
      prove: () => {
        if (rig.isProving) seen.provenAt = manual.monotonic();
      },
      charged: () => undefined,
      recounted: () => undefined,
      clock: manual,
      random: () => 0.5,
      ...options,
      view: seen,
    });
    return created;
  }

  async function reserve(from: QuotaLedger, each: Reservation, isDryRun = false): Promise<ReservationResult> {
    const result = from.reserve(each, { withinMs: 1_000, isDryRun });
    await manual.advance(2_000);
    return result;
  }

  /** Lets so much time pass that a count is due, and lets it be made. */
  async function recount(replica: QuotaLedger, afterMs = COUNT_DUE_MS): Promise<void> {
    await manual.advance(afterMs);
    replica.tick();
    await manual.advance(0);
    // What the count found overdue is proven over by now.
    replica.observe();
    await manual.advance(0);
  }

  /** Edits the object like a user. */
  function setLimits(hard: Readonly<Record<string, string>>): void {
    const { raw } = rig.object;
    version += 1;
    const generation = (raw.metadata.generation ?? 0) + 1;
    rig.object = decode({
      ...raw,
      metadata: { ...raw.metadata, generation, resourceVersion: String(version) },
      spec: { priorityClassNames: ['high'], hard },
    });
  }

  function used(): string | undefined {
    const amount = rig.object.state.used.get('memory');
    return amount && formatQuantity(amount);
  }
  function slices() {
    return Array.from(rig.object.state.slices.values(), ({ amounts, recallRequested }) => {
      const memory = amounts.get('memory');
      return { memory: memory && formatQuantity(memory), recallRequested };
    });
  }

  function reserved(): readonly string[] {
    return [...rig.object.state.reservations.keys()];
  }
  return rig;
}

/** With something open a replica counts every five seconds. */
const COUNT_DUE_MS = 5_000;
