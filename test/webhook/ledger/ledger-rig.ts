import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { Reservation } from '#shared/domain/quota/ledger-state.ts';
import type { CountedPod } from '#shared/domain/quota/pod-count.ts';
import { decodeLedgerObject, withLedger, type LedgerObject } from '#webhook/ledger/ledger-object.ts';
import { writtenAs, type LedgerStore, type Read, type Written } from '#webhook/ledger/ledger-store.ts';
import { createQuotaLedger, type QuotaLedger, type QuotaLedgerOptions } from '#webhook/ledger/quota-ledger.ts';
import type { Settled } from '#webhook/ledger/settle-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';
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

export type LedgerRig = ReturnType<typeof createLedgerRig>;

/** One ledger object with room for 4Gi of memory, a cluster of pods, and replicas that share them. */
export function createLedgerRig() {
  const clock = manualClock(0);
  const ended = new Set<string>();
  let version = 1;
  let last = 0;

  const rig = {
    clock,
    ended,
    object: decode({
      metadata: { name: 'q', uid: 'u', generation: 1, resourceVersion: '1' },
      spec: { priorityClassNames: ['high'], hard: { memory: '4Gi' } },
      status: { observedGeneration: 1, used: { memory: '0' } },
    }),
    pods: [] as CountedPod[],
    writes: 0,
    listings: 0,
    onList: () => Promise.resolve(),
    /** Fields of the status that the CRD does not name. */
    unnamed: [] as string[],
    /** What the next writes answer instead; `applied` takes effect all the same, `late` does so after three seconds. */
    faults: [] as ('lost' | 'applied' | 'late')[],
    store,
    ledger,
    reserve,
    setLimits,
    recreate,
    used,
  };

  function store(): LedgerStore {
    return {
      read: () => Promise.resolve<Read>({ kind: 'read', object: rig.object }),
      write: async (base, state, kind) => {
        rig.writes += 1;
        if ([...state.reservations.keys()].some((uid) => uid.startsWith(POISON))) return REFUSED;
        const fault = rig.faults.shift();
        if (fault === 'lost') return NO_ANSWER;
        if (fault === 'late') await clock.sleep(3_000);
        const written = write(withLedger(base, state, kind));
        return fault === 'applied' ? NO_ANSWER : written;
      },
    };
  }

  /** Stored as JSON, as the API server does, and without what its CRD does not name. */
  function write(next: LedgerObject): Written {
    const { raw } = next;
    if (raw.metadata.resourceVersion !== rig.object.raw.metadata.resourceVersion) return { kind: 'conflict' };
    version += 1;
    const named = Object.entries(raw['status'] ?? {}).filter(([part]) => !rig.unnamed.includes(part));
    const metadata = { ...raw.metadata, resourceVersion: String(version) };
    const stored = JSON.parse(JSON.stringify({ ...raw, metadata, status: Object.fromEntries(named) })) as typeof raw;
    rig.object = decode(stored);
    return writtenAs(next, stored);
  }

  /** As somebody deletes the quota and makes it anew. */
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

  /** A replica, without slices unless told otherwise, that hears of a change of the object at once. */
  function ledger(options: Partial<QuotaLedgerOptions> = {}): QuotaLedger {
    const countPods = async () => {
      rig.listings += 1;
      const counted = countOf(rig.object.quota.hard, rig.pods);
      await rig.onList();
      return counted;
    };
    return createQuotaLedger({
      store: store(),
      countPods,
      hasEnded: (uid) => ended.has(uid),
      reservationMs: 120_000,
      holder: `replica-${(last += 1)}`,
      news: () => {
        const { uid = '', generation = 0 } = rig.object.raw.metadata;
        return { uid, generation, slices: rig.object.state.slices };
      },
      sliceAfterMs: Infinity,
      sliceLifeMs: 10_000,
      charged: () => undefined,
      clock,
      random: () => 0.5,
      ...options,
    });
  }

  async function reserve(from: QuotaLedger, each: Reservation, isDryRun = false): Promise<Settled> {
    const settled = from.reserve(each, { withinMs: 1_000, isDryRun });
    await clock.advance(2_000);
    return settled;
  }

  /** As somebody edits the object. */
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
  return rig;
}
