import { filterAmounts, type Amounts } from '#shared/domain/model/amounts.ts';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import { quantityFromInteger, quantityNumber, ZERO } from '#shared/domain/model/quantity.ts';
import { EMPTY_LEDGER, podUidOf, type LedgerState } from '#shared/domain/quota/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/limited-amounts.ts';
import type { CountedPod, PodCount } from '#shared/domain/quota/pod-count.ts';
import type { LedgerObject } from '#webhook/ledger/ledger-object.ts';
import type { LedgerStore, Read, Written } from '#webhook/ledger/ledger-store.ts';
import { countOf } from '#test/build/pod-count.ts';
import { selectorOf } from '#test/build/cluster.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';

/** A process that calls the API server, and may die while it waits. */
export interface Lifetime {
  isAlive: boolean;
  /** Its calls get nowhere before this time. */
  cutOffUntil: number;
}

/** Something that costs the quota: a pod, or what will be one. */
export interface Admitted {
  readonly uid: string;
  readonly amounts: Amounts;
}

/** The quota object, the pods, and calls whose two halves each wait for a moment of their own. */
export interface ModelApiServer {
  readonly pods: Map<string, CountedPod>;
  storeFor(lifetime: Lifetime): LedgerStore;
  countPods(lifetime: Lifetime): Promise<PodCount>;
  /** Lets one thing that waits happen; false when nothing waits. */
  proceed(): boolean;
  /** Something that happens later, if ever. */
  later(action: () => void): void;
  /** Units are limited too, unless said otherwise. */
  setLimit(pods: number, now: number, areUnitsLimited?: boolean): void;
  stored(): LedgerObject;
  readonly conflicts: number;
  readonly lostAnswers: number;
  /** From now on every call takes effect and is answered. */
  calmDown(): void;
  /** The law that the present state breaks, with what was admitted and is not stored yet. */
  violation(now: number, promised: readonly Admitted[]): string | undefined;
}

export interface ModelApiServerOptions {
  readonly now: () => number;
  readonly random: RandomSource;
  readonly hardPods: number;
  /** No pod is made of an admission that is older. */
  readonly creationMs: number;
  /** A planted bug: lists leave out half of the pods. */
  readonly listsHaveHoles: boolean;
  /** A planted bug: what is not known to be used is stored as nothing. */
  readonly unknownIsNothing: boolean;
}

/** What a model pod of so many units costs. */
export function costOf(units: number): Amounts {
  return new Map([
    ['pods', quantityFromInteger(1, 'DecimalSI')],
    ['units', quantityFromInteger(units, 'DecimalSI')],
  ]);
}

const UNITS_PER_POD = 2;
const TROUBLE = { kind: 'trouble', message: 'no answer' } as const;

function limits(pods: number): Amounts {
  return new Map(
    [...costOf(UNITS_PER_POD)].map(([name, amount]) => [
      name,
      quantityFromInteger(pods * (amount.mantissa as number), 'DecimalSI'),
    ]),
  );
}

export function createModelApiServer(options: ModelApiServerOptions): ModelApiServer {
  const { random, creationMs } = options;
  const pending: (() => void)[] = [];
  const pods = new Map<string, CountedPod>();
  let past: { readonly hard: number; readonly replacedAt: number }[] = [];
  let truthBefore = 0;
  let version = 1;
  let conflicts = 0;
  let lostAnswers = 0;
  let isCalm = false;
  let stored: LedgerObject = {
    raw: { metadata: { name: 'q', uid: 'quota', generation: 1, resourceVersion: '1' } },
    quota: {
      name: 'q',
      namespaces: prepareSelector(selectorOf({})),
      scope: { kind: 'range', min: 0, max: 0 },
      hard: limits(options.hardPods),
    },
    state: EMPTY_LEDGER,
    isCounted: false,
    recounts: 0,
  };

  /** A call takes effect at one moment, and its answer arrives at another; either may be lost. */
  function call<T>(lifetime: Lifetime, effect: () => T, lost: T): Promise<T> {
    return new Promise((resolve) => {
      pending.push(() => {
        const isCutOff = options.now() < lifetime.cutOffUntil;
        const result = isCutOff || (!isCalm && random.chance(0.03)) ? lost : effect();
        pending.push(() => {
          const isLost = !isCalm && random.chance(0.05);
          if (isLost) lostAnswers += 1;
          if (lifetime.isAlive) resolve(isLost ? lost : result);
        });
      });
    });
  }

  function replace(change: Partial<LedgerObject>, generation = stored.raw.metadata.generation ?? 0): void {
    version += 1;
    const metadata = { ...stored.raw.metadata, generation, resourceVersion: String(version) };
    stored = { ...stored, ...change, raw: { metadata } };
  }

  function compareAndSwap(base: LedgerObject, state: LedgerState, kind: 'charge' | 'recount'): Written {
    if (base.raw.metadata.resourceVersion !== stored.raw.metadata.resourceVersion) {
      conflicts += 1;
      return { kind: 'conflict' };
    }
    const isRecount = kind === 'recount';
    const { hard } = stored.quota;
    const used = options.unknownIsNothing ? limitedAmounts(state.used, hard) : state.used;
    replace({
      state: copyState({ ...state, used }),
      recounts: base.recounts + (isRecount ? 1 : 0),
      isCounted: base.isCounted || isRecount,
    });
    return { kind: 'written', object: stored };
  }

  async function countPods(lifetime: Lifetime): Promise<PodCount> {
    const seen = () => [...pods.values()].filter(() => !options.listsHaveHoles || random.chance(0.5));
    const list = () => countOf(stored.quota.hard, seen());
    const result = await call<PodCount | undefined>(lifetime, list, undefined);
    if (result === undefined) throw new Error('no answer');
    return result;
  }

  function setLimit(hardPods: number, now: number, areUnitsLimited = true): void {
    past = [
      ...past.filter(({ replacedAt }) => now - replacedAt <= creationMs),
      { hard: hardUnits(stored), replacedAt: now },
    ];
    const generation = (stored.raw.metadata.generation ?? 0) + 1;
    const hard = filterAmounts(limits(hardPods), (name) => areUnitsLimited || name !== 'units');
    replace({ quota: { ...stored.quota, hard }, isCounted: false }, generation);
  }

  function violation(now: number, promised: readonly Admitted[]): string | undefined {
    const admitted = [...pods.values(), ...promised];
    const truth = total(admitted);
    const isGrown = truth > truthBefore;
    truthBefore = truth;
    const limits = [
      hardUnits(stored),
      ...past.filter((each) => now - each.replacedAt <= creationMs).map(({ hard }) => hard),
    ];
    const most = Math.max(...limits);
    if (isGrown && truth > most) return `${truth} units were admitted, ${most} may be`;
    const isKnown = stored.isCounted && stored.state.used.has('units');
    return isKnown ? understatement(stored.state, admitted) : undefined;
  }

  return {
    pods,
    storeFor: (lifetime) => ({
      read: () => call<Read>(lifetime, () => ({ kind: 'read', object: stored }), TROUBLE),
      write: (base, state, kind) => call<Written>(lifetime, () => compareAndSwap(base, state, kind), TROUBLE),
    }),
    countPods,
    proceed: () => {
      const [next] = pending.splice(random.below(pending.length), 1);
      next?.();
      return next !== undefined;
    },
    later: (action) => void pending.push(action),
    setLimit,
    stored: () => stored,
    get conflicts() {
      return conflicts;
    },
    get lostAnswers() {
      return lostAnswers;
    },
    calmDown: () => void (isCalm = true),
    violation,
  };
}

/** What they cost together, in units. */
export function total(admitted: Iterable<Pick<Admitted, 'amounts'>>): number {
  let sum = 0;
  for (const { amounts } of admitted) sum += unitsOf(amounts);
  return sum;
}

export function unitsOf(amounts: Amounts): number {
  return quantityNumber(amounts.get('units') ?? ZERO);
}

function hardUnits({ quota }: LedgerObject): number {
  return quota.hard.has('units') ? unitsOf(quota.hard) : Infinity;
}

/**
 * Sharper than comparing sums, in which one pod too many counted hides another that is not: whoever was admitted has a
 * reservation of his own, or is in what was counted and in slices.
 */
function understatement({ used, reservations }: LedgerState, admitted: readonly Admitted[]): string | undefined {
  const reserved = new Map<string, number>();
  for (const { uid, amounts } of reservations.values()) increase(reserved, podUidOf(uid), unitsOf(amounts));
  const costs = new Map<string, number>();
  for (const { uid, amounts } of admitted) increase(costs, uid, unitsOf(amounts));
  let uncovered = 0;
  for (const [uid, cost] of costs) uncovered += Math.max(0, cost - (reserved.get(uid) ?? 0));
  const counted = unitsOf(used) - total(reservations.values());
  return counted < uncovered ? `${uncovered} units have no reservation, ${counted} are counted` : undefined;
}

function increase(sums: Map<string, number>, key: string, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}

function copyState(state: LedgerState): LedgerState {
  return {
    used: new Map(state.used),
    byNamespace: new Map(Array.from(state.byNamespace, ([namespace, amounts]) => [namespace, new Map(amounts)])),
    reservations: new Map(state.reservations),
    slices: new Map(state.slices),
  };
}
