import { type Amounts, filterAmounts, quantityFromInteger } from '#shared/domain/quantity/quantity.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { EMPTY_LEDGER, type LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import type { LedgerWrite, Read, LedgerWritten } from '#shared/domain/quota/replica/event.ts';
import type { LedgerVersion } from '#shared/domain/quota/replica/apply-batch.ts';
import type { ViewRevision } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerStore } from '#webhook/quota/ledger-store.ts';
import { selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import type { CountedPod } from '#test/build/pod-count.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import type { ModelTime } from './model-clock.ts';
import { type Admitted, understatement, unitsOf } from './model-understatement.ts';

/** A process that calls the API server, and may die or be stopped while it waits. */
export interface Lifetime {
  isAlive: boolean;
  /** Its calls get nowhere before this time. */
  cutOffUntil: number;
  /** As by SIGSTOP: it does nothing before this time, and does not notice. */
  stoppedUntil: number;
}

/** A change of a pod as a watch shows it. */
export interface PodChange {
  readonly revision: number;
  readonly pod: CountedPod;
  readonly isDeletion: boolean;
}

export interface ModelNamespace {
  readonly name: string;
  readonly revision: number;
}

/** The quota object, pods and namespaces with their history, and calls whose two halves each wait for a moment of their own. */
export interface ModelApiServer {
  readonly pods: ReadonlyMap<string, CountedPod & { readonly revision: number }>;
  readonly podChanges: readonly PodChange[];
  readonly namespaces: readonly ModelNamespace[];
  revision(): number;
  putPod(pod: CountedPod): void;
  removePod(uid: string): void;
  addNamespace(): void;
  storeFor(lifetime: Lifetime): LedgerStore;
  /** A recount of which it is not known what it was made from. */
  recountAsEarlier(base: LedgerVersion, state: LedgerState): LedgerWritten;
  /** A call takes effect at one moment, and its answer arrives at another; `undefined` where either is lost. */
  call<T>(lifetime: Lifetime, effect: () => T): Promise<T | undefined>;
  /** Executes one pending step; false if there is none. */
  proceed(): boolean;
  /** Something that happens later, if ever. */
  later(action: () => void): void;
  /** Units are limited too, unless said otherwise. */
  setLimit(pods: number, now: number, areUnitsLimited?: boolean): void;
  stored(): LedgerVersion;
  readonly conflicts: number;
  readonly lostAnswers: number;
  /** From now on every call takes effect and is answered. */
  calmDown(): void;
  /** The law that the present state breaks, with what was admitted and is not stored yet. */
  violation(now: number, promised: readonly Admitted[]): string | undefined;
}

export interface ModelApiServerOptions {
  readonly time: Pick<ModelTime, 'now' | 'whenAwake'>;
  readonly random: RandomSource;
  readonly hardPods: number;
  /** No pod is made of an admission that is older. */
  readonly creationMs: number;
  /** A planted bug: what is not known to be used is stored as nothing. */
  readonly unknownIsNothing: boolean;
  /** A planted bug: what the recount before was made from stands for a recount that does not say. */
  readonly earlierCountsAreTrusted: boolean;
}

/** What a model pod of so many units costs. */
export function costOf(units: number): Amounts {
  return new Map([
    ['pods', quantityFromInteger(1, 'DecimalSI')],
    ['units', quantityFromInteger(units, 'DecimalSI')],
  ]);
}

const UNITS_PER_POD = 2;
/** So many that what each wastes keeps few of them out. */
const FIRST_NAMESPACES = 40;
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
  const { random, creationMs, time } = options;
  const pending: (() => void)[] = [];
  const pods = new Map<string, CountedPod & { readonly revision: number }>();
  const podChanges: PodChange[] = [];
  const namespaces: ModelNamespace[] = [];
  let past: { readonly hard: number; readonly replacedAt: number }[] = [];
  let truthBefore = 0;
  let revision = 1;
  let conflicts = 0;
  let lostAnswers = 0;
  let isCalm = false;
  let stored: LedgerVersion = {
    uid: 'quota',
    generation: 1,
    revision: '1',
    quota: {
      name: 'q',
      namespaces: prepareSelector(selectorOf({})),
      scope: { kind: 'range', min: 0, max: 0 },
      hard: limits(options.hardPods),
      ...PLAIN_QUOTA,
    },
    state: EMPTY_LEDGER,
    isCounted: false,
    recounts: 0,
    counted: undefined,
  };

  function call<T>(lifetime: Lifetime, effect: () => T): Promise<T | undefined> {
    return new Promise((resolve) => {
      pending.push(() => {
        const isCutOff = time.now() < lifetime.cutOffUntil;
        const result = isCutOff || (!isCalm && random.chance(0.03)) ? undefined : effect();
        answer(lifetime, () => {
          const isLost = !isCalm && random.chance(0.05);
          if (isLost) lostAnswers += 1;
          resolve(isLost ? undefined : result);
        });
      });
    });
  }

  /** A stopped process reads it later; a dead process never does. */
  function answer(lifetime: Lifetime, deliver: () => void): void {
    const isStopped = (): boolean => time.now() < lifetime.stoppedUntil;
    pending.push(() =>
      time.whenAwake(isStopped, () => {
        if (lifetime.isAlive) deliver();
      }),
    );
  }

  function replace(change: Partial<LedgerVersion>): void {
    revision += 1;
    stored = { ...stored, ...change, revision: String(revision) };
  }

  function write({ base, state, counted }: LedgerWrite): LedgerWritten {
    const used = options.unknownIsNothing ? limitedAmounts(state.used, stored.quota.hard) : state.used;
    return compareAndSwap(base, { state: copyState({ ...state, used }), ...(counted && recountAfter(base, counted)) });
  }

  function compareAndSwap(base: LedgerVersion, change: Partial<LedgerVersion>): LedgerWritten {
    if (base.revision !== stored.revision) {
      conflicts += 1;
      return { kind: 'conflict' };
    }
    replace(change);
    return { kind: 'written', version: stored };
  }

  function recountAsEarlier(base: LedgerVersion, state: LedgerState): LedgerWritten {
    const counted = options.earlierCountsAreTrusted ? stored.counted : undefined;
    return compareAndSwap(base, { state: copyState(state), ...recountAfter(base, counted) });
  }

  function change(pod: CountedPod, isDeletion: boolean): void {
    revision += 1;
    podChanges.push({ revision, pod, isDeletion });
    if (isDeletion) pods.delete(pod.uid);
    else pods.set(pod.uid, { ...pod, revision });
  }

  function addNamespace(): void {
    revision += 1;
    namespaces.push({ name: `namespace-${namespaces.length}`, revision });
  }

  function setLimit(hardPods: number, at: number, areUnitsLimited = true): void {
    past = [
      ...past.filter(({ replacedAt }) => at - replacedAt <= creationMs),
      { hard: hardUnits(stored), replacedAt: at },
    ];
    const hard = filterAmounts(limits(hardPods), (name) => areUnitsLimited || name !== 'units');
    replace({ quota: { ...stored.quota, hard }, isCounted: false, generation: stored.generation + 1 });
  }

  function violation(at: number, promised: readonly Admitted[]): string | undefined {
    const admitted = [...pods.values(), ...promised];
    const truth = total(admitted);
    const isGrown = truth > truthBefore;
    truthBefore = truth;
    const inForce = past.filter((each) => at - each.replacedAt <= creationMs).map(({ hard }) => hard);
    const most = Math.max(hardUnits(stored), ...inForce);
    if (isGrown && truth > most) return `${truth} units were admitted, ${most} may be`;
    const isKnown = stored.isCounted && stored.state.used.has('units');
    return isKnown ? understatement(stored.state, admitted) : undefined;
  }

  for (let index = 0; index < FIRST_NAMESPACES; index += 1) addNamespace();
  return {
    pods,
    podChanges,
    namespaces,
    revision: () => revision,
    putPod: (pod) => change(pod, false),
    removePod: (uid) => {
      const pod = pods.get(uid);
      if (pod !== undefined) change(pod, true);
    },
    addNamespace,
    storeFor: (lifetime) => ({
      read: async () => (await call<Read>(lifetime, () => ({ kind: 'read', version: stored }))) ?? TROUBLE,
      write: async (next) => (await call<LedgerWritten>(lifetime, () => write(next))) ?? TROUBLE,
    }),
    recountAsEarlier,
    call,
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

function recountAfter({ recounts }: LedgerVersion, counted: ViewRevision | undefined) {
  return { recounts: recounts + 1, isCounted: true, counted };
}

/** What they cost together, in units. */
export function total(admitted: Iterable<Pick<Admitted, 'amounts'>>): number {
  let sum = 0;
  for (const { amounts } of admitted) sum += unitsOf(amounts);
  return sum;
}

function hardUnits({ quota }: LedgerVersion): number {
  return quota.hard.has('units') ? unitsOf(quota.hard) : Infinity;
}

function copyState(state: LedgerState): LedgerState {
  return {
    used: new Map(state.used),
    byNamespace: new Map(Array.from(state.byNamespace, ([namespace, amounts]) => [namespace, new Map(amounts)])),
    reservations: new Map(state.reservations),
    slices: new Map(state.slices),
  };
}
