import { EMPTY_LEDGER, type CountedPod, type LedgerState } from '#shared/domain/quota/ledger.ts';
import { compareQuantities, quantityFromInteger, quantityNumber, ZERO } from '#shared/domain/model/quantity.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerObject } from '#webhook/ledger/ledger-object.ts';
import type { LedgerStore, Read, Written } from '#webhook/ledger/ledger-store.ts';
import { createQuotaLedger, type QuotaLedger } from '#webhook/ledger/quota-ledger.ts';
import { amountsOf, selectorOf } from '#test/build/cluster.ts';
import { randomSource } from '#test/fakes/random-source.ts';

export interface ModelOptions {
  readonly seed: number;
  readonly replicas: number;
  readonly hardPods: number;
  /** A planted bug: lists leave out half of the pods. */
  readonly listsHaveHoles?: boolean;
}

export interface ModelReport {
  readonly steps: number;
  readonly admitted: number;
  readonly refused: number;
  readonly busy: number;
  readonly crashes: number;
  readonly lostAnswers: number;
  readonly conflicts: number;
  readonly recounts: number;
  /** The first broken law, with the step at which it broke. */
  readonly violation: string | undefined;
  /** `used` after everything came to rest and two reservation lives have passed. */
  readonly usedAtRest: number;
  readonly livingAtRest: number;
}

interface Replica {
  readonly ledger: QuotaLedger;
  readonly lifetime: { isAlive: boolean };
}

const HARD = 'pods';
const ONE = { pods: quantityFromInteger(1, 'DecimalSI') };
/** The API server gives a request 60 s: later no pod is made of an admission. */
const CREATION_MS = 60_000;
const REST_MS = 400_000;

/**
 * Several replicas on one ledger object and a cluster of pods, everything that takes time put into an order that the
 * seed decides: calls that apply late or whose answers are lost, replicas that die at any point, pods that appear late
 * or never, requests that come twice.
 */
export async function runLedgerModel(options: ModelOptions, steps: number): Promise<ModelReport> {
  const model = createModel(options);
  for (let step = 0; step < steps && model.counts.violation === undefined; step += 1) {
    model.counts.steps += 1;
    model.act();
    await settle();
    model.check();
  }
  if (model.counts.violation === undefined) await model.rest();
  return model.report();
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function createModel({ seed, replicas: count, hardPods, listsHaveHoles = false }: ModelOptions) {
  const random = randomSource(seed);
  const time = modelClock();
  const pending: (() => void)[] = [];
  const pods = new Map<string, CountedPod>();
  const promised: { readonly uid: string; readonly until: number }[] = [];
  const counts = {
    steps: 0,
    admitted: 0,
    refused: 0,
    busy: 0,
    crashes: 0,
    lostAnswers: 0,
    conflicts: 0,
    violation: undefined as string | undefined,
  };
  const quota: PriorityQuota = {
    name: 'q',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'range', min: 0, max: 0 },
    hard: amountsOf({ [HARD]: String(hardPods) }),
  };
  let version = 1;
  let stored = ledgerObject(EMPTY_LEDGER, { version, recounts: 0, isCounted: false });
  let nextUid = 0;
  let isCalm = false;

  function ledgerObject(
    state: LedgerState,
    { version: at, recounts, isCounted }: { version: number; recounts: number; isCounted: boolean },
  ): LedgerObject {
    const metadata = { name: 'q', uid: 'quota', generation: 1, resourceVersion: String(at) };
    return { raw: { metadata }, quota, state, isCounted, recounts };
  }

  /** A call in two parts, each at a moment of its own: it takes effect, and its answer arrives. */
  function call<T>(lifetime: Replica['lifetime'], effect: () => T, lost: T): Promise<T> {
    return new Promise((resolve) => {
      pending.push(() => {
        const isNeverSent = !isCalm && random.chance(0.03);
        const result = isNeverSent ? lost : effect();
        pending.push(() => {
          const isLost = !isCalm && random.chance(0.05);
          if (isLost) counts.lostAnswers += 1;
          if (lifetime.isAlive) resolve(isLost ? lost : result);
        });
      });
    });
  }

  function storeFor(lifetime: Replica['lifetime']): LedgerStore {
    const trouble = { kind: 'trouble', message: 'no answer' } as const;
    return {
      read: () => call<Read>(lifetime, () => ({ kind: 'read', object: stored }), trouble),
      write: (base, state, kind) => call<Written>(lifetime, () => compareAndSwap(base, state, kind), trouble),
    };
  }

  function compareAndSwap(base: LedgerObject, state: LedgerState, kind: 'charge' | 'recount'): Written {
    if (base.raw.metadata.resourceVersion !== stored.raw.metadata.resourceVersion) {
      counts.conflicts += 1;
      return { kind: 'conflict' };
    }
    version += 1;
    const isRecount = kind === 'recount';
    stored = ledgerObject(copyState(state), {
      version,
      recounts: base.recounts + (isRecount ? 1 : 0),
      isCounted: base.isCounted || isRecount,
    });
    return { kind: 'written', object: stored };
  }

  async function listPods(lifetime: Replica['lifetime']): Promise<readonly CountedPod[]> {
    const list = () => [...pods.values()].filter(() => !listsHaveHoles || random.chance(0.5));
    const result = await call<readonly CountedPod[] | undefined>(lifetime, list, undefined);
    if (result === undefined) throw new Error('no answer');
    return result;
  }

  function startReplica(): Replica {
    const lifetime = { isAlive: true };
    const ledger = createQuotaLedger({
      store: storeFor(lifetime),
      listPods: () => listPods(lifetime),
      clock: time.clock,
      random: random.next,
    });
    return { ledger, lifetime };
  }
  const replicas = Array.from({ length: count }, startReplica);

  function request(uid: string): void {
    const replica = random.pick(replicas);
    const reservation = {
      uid,
      namespace: random.pick(['a', 'b', 'c']),
      pod: uid,
      amounts: new Map(Object.entries(ONE)),
      admittedAt: 0,
    };
    void replica.ledger.reserve(reservation, { withinMs: 5_000, isDryRun: false }).then((settled) => {
      if (settled.kind === 'exceeded') counts.refused += 1;
      if (settled.kind === 'busy') counts.busy += 1;
      if (settled.kind !== 'reserved' && settled.kind !== 'alreadyReserved') return;
      counts.admitted += 1;
      // Some are never made: another webhook refuses them, or their name is taken.
      if (random.chance(0.98)) promised.push({ uid, until: time.clock.monotonic() + CREATION_MS });
    });
  }

  function crash(): void {
    counts.crashes += 1;
    const index = random.below(replicas.length);
    const dead = replicas[index];
    if (dead !== undefined) dead.lifetime.isAlive = false;
    replicas[index] = startReplica();
  }

  function createPod(): void {
    const [next] = promised.splice(random.below(promised.length), 1);
    if (next === undefined || next.until < time.clock.monotonic()) return;
    pods.set(next.uid, { uid: next.uid, namespace: 'a', amounts: new Map(Object.entries(ONE)) });
  }

  function endPod(): void {
    const uid = [...pods.keys()][random.below(pods.size)];
    if (uid !== undefined) pods.delete(uid);
  }

  function proceed(): void {
    const [next] = pending.splice(random.below(pending.length), 1);
    if (next === undefined) time.advance(random.below(50));
    else next();
  }

  function act(): void {
    const drawn = random.next();
    if (drawn < 0.1) request(`pod-${(nextUid += 1)}`);
    else if (drawn < 0.11) request(`pod-${Math.max(1, nextUid - random.below(5))}`);
    else if (drawn < 0.1103) crash();
    else if (drawn < 0.2) createPod();
    else if (drawn < 0.21) endPod();
    else if (drawn < 0.35) time.advance(random.below(40));
    else if (drawn < 0.351) time.advance(random.below(30_000));
    else if (drawn < 0.38)
      void random
        .pick(replicas)
        .ledger.recount()
        .catch(() => undefined);
    else proceed();
  }

  function check(): void {
    const used = stored.state.used.get(HARD) ?? ZERO;
    const truth = quantityFromInteger(pods.size, 'DecimalSI');
    if (pods.size > hardPods) counts.violation ??= `step ${counts.steps}: ${pods.size} pods live where ${hardPods} may`;
    if (stored.isCounted && compareQuantities(used, truth) < 0) {
      counts.violation ??= `step ${counts.steps}: used says ${quantityNumber(used)} and ${pods.size} pods live`;
    }
  }

  /** No more faults and no more requests; what was reserved in vain must be given back. */
  async function rest(): Promise<void> {
    isCalm = true;
    promised.length = 0;
    for (let waited = 0; waited < REST_MS; waited += 5_000) {
      const recount = replicas[0]?.ledger.recount().catch(() => undefined);
      const end = { isReached: false };
      void recount?.then(() => (end.isReached = true));
      while (!end.isReached) {
        proceed();
        await settle();
      }
      time.advance(5_000);
      await settle();
    }
  }

  function report(): ModelReport {
    const usedAtRest = quantityNumber(stored.state.used.get(HARD) ?? ZERO);
    return { ...counts, recounts: stored.recounts, usedAtRest, livingAtRest: pods.size };
  }
  return { counts, act, check, rest, report };
}

function copyState(state: LedgerState): LedgerState {
  return {
    used: new Map(state.used),
    byNamespace: new Map(Array.from(state.byNamespace, ([namespace, amounts]) => [namespace, new Map(amounts)])),
    reservations: new Map(state.reservations),
  };
}

/** A clock whose sleepers wake, in order, when time is moved on. */
function modelClock(): { readonly clock: Clock; advance(ms: number): void } {
  let now = 0;
  let sleepers: { readonly at: number; readonly wake: () => void }[] = [];
  return {
    clock: {
      now: () => now,
      monotonic: () => now,
      sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms, wake })),
    },
    advance: (ms) => {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
    },
  };
}
