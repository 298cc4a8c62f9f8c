import { type Reservation, resizeReservationUid } from '#shared/domain/quota/ledger/ledger-state.ts';
import { filterAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/quantity.ts';
import type { ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import type { CountedPod } from '#test/build/pod-count.ts';
import { costOf, type ModelApiServer } from './model-api-server.ts';
import { unitsOf } from './model-understatement.ts';
import type { ModelTime } from './model-clock.ts';
import type { Bug, Happening } from './model-options.ts';
import { isStopped, type Replica } from './model-replica.ts';

interface Promised {
  readonly uid: string;
  /** By default its UID. */
  readonly name?: string;
  /** It has the name of another pod; of each name there is one. */
  readonly isAgain?: true;
  readonly until: number;
  /** What it adds; nothing once it can no longer be stored. */
  readonly cost: () => Amounts;
  readonly store: () => void;
}

/** The API server gives a request 60 s: later no pod is made of an admission. */
export const CREATION_MS = 60_000;
/** And it waits so long for a webhook: more than a slow clock makes of the time within which it answers. */
const WEBHOOK_MS = 10_000;
const MAX_ATTEMPTS = 8;
/** Nothing that this one asks for is ever stored. */
const CARELESS = 'namespace-0';

interface RequestSetting {
  readonly api: ModelApiServer;
  readonly time: ModelTime;
  readonly random: RandomSource;
  readonly bug: Bug | undefined;
  /** Those that live now. */
  readonly replicas: readonly Replica[];
  readonly counts: Record<Happening, number>;
  /** Another number at each call. */
  readonly next: () => number;
}

/** What users ask for, and what the API server makes of the answers. */
export function createModelRequests({ api, time, random, bug, replicas, counts, next }: RequestSetting) {
  /** What the API server will store. */
  let promised: Promised[] = [];

  async function ask(reservation: Reservation, isDryRun = false): Promise<ReservationResult> {
    const claim = bug === 'everybodyTakesBack' ? 'everybody' : `claim-${next()}`;
    const replica = random.pick(replicas);
    const { ledger, lifetime } = replica;
    const askedAt = time.now();
    const result = await new Promise<ReservationResult>((answer) => {
      const withinMs = 5_000;
      // A process that is stopped reads it once it goes on.
      time.whenAwake(
        () => isStopped(lifetime, time),
        () => void ledger.reserve({ ...reservation, claim }, { withinMs, isDryRun }).then(answer),
      );
    });
    if (time.now() - askedAt > WEBHOOK_MS) {
      counts.tooLate += 1;
      return { kind: 'busy', why: 'the API server has given up' };
    }
    if (result.kind === 'exceeded') counts.refused += 1;
    if (result.kind === 'busy') counts.busy += 1;
    if (result.kind === 'wasted') counts.wasted += 1;
    if (result.kind !== 'reserved' || isDryRun || !random.chance(0.1)) return result;
    // Another quota refuses the pod.
    counts.takenBack += 1;
    ledger.cancel({ ...reservation, claim });
    return { kind: 'busy', why: 'the other quota' };
  }

  /** Now and then two calls are made for one request, and the API server hears the answer of one of them. */
  function askOnceOrTwice(reservation: Reservation): Promise<ReservationResult> {
    if (!random.chance(0.2)) return ask(reservation);
    counts.duplicates += 1;
    const answers = [ask(reservation), ask(reservation)];
    return random.pick(answers);
  }

  function reservationOf(uid: string, units: number): Reservation {
    const namespace = random.chance(0.15) ? CARELESS : random.pick(api.namespaces).name;
    return { uid, namespace, pod: uid, amounts: costOf(units), admittedAt: random.below(2 ** 40) };
  }

  /** One request; a generated name that is taken makes another attempt, with another UID, of the same request. */
  async function request(): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const uid = `pod-${next()}`;
      const reservation = reservationOf(uid, 1 + random.below(4));
      const { namespace, amounts } = reservation;
      const result = await askOnceOrTwice(reservation);
      if (!isAllowed(result)) return;
      counts.admitted += 1;
      const store = (): void => api.putPod({ uid, namespace, amounts });
      if (random.chance(0.9)) {
        promise({ uid, cost: () => amounts, store }, namespace === CARELESS ? 0 : 0.98);
        return;
      }
      counts.repeatedNames += 1;
    }
  }

  /** A pod is asked for that exists: it is stored only once the other is gone. */
  async function again(): Promise<void> {
    const other = [...api.pods.values()][random.below(api.pods.size)];
    if (other === undefined) return;
    const { namespace, name = other.uid } = other;
    const uid = `pod-${next()}`;
    const { amounts, ...reservation } = reservationOf(uid, 1 + random.below(4));
    const result = await askOnceOrTwice({ ...reservation, amounts, namespace, pod: name });
    if (!isAllowed(result)) return;
    counts.namesTaken += 1;
    const holder = (): CountedPod | undefined => [...api.pods.values()].find((each) => nameOfPod(each) === name);
    const cost = (): Amounts => unitsBeyond(amounts, holder()?.amounts);
    const isPromised = promised.some((each) => each.isAgain === true && each.name === name);
    const store = (): void => (holder() === undefined ? api.putPod({ uid, name, namespace, amounts }) : undefined);
    if (!isPromised) promise({ uid, name, isAgain: true, cost, store }, namespace === CARELESS ? 0 : 0.9);
  }

  /** Some are never stored: another webhook refuses them. */
  function promise(what: Omit<Promised, 'until'>, probability: number): void {
    if (random.chance(probability)) promised.push({ ...what, until: time.now() + CREATION_MS });
  }

  /** Requests a resize; the API server stores it only if the pod has not changed in the meantime. */
  async function resize(): Promise<void> {
    const before = [...api.pods.values()][random.below(api.pods.size)];
    const units = unitsOf(before?.amounts ?? NO_AMOUNTS);
    if (before === undefined || units === 0) return;
    const generation = (before.generation ?? 0) + 1;
    const expected = bug === 'resizesAreSeenTooSoon' ? generation - 1 : generation;
    const isUnchanged = (): boolean => api.pods.get(before.uid) === before;
    const store = (by: number): void => {
      if (!isUnchanged()) return;
      counts.resized += 1;
      api.putPod({ ...before, amounts: costOf(units + by), generation });
    };
    if (units > 1 && random.chance(0.5)) {
      store(-1);
      return;
    }
    const uid = resizeReservationUid(before.uid, String(next()));
    const growth = filterAmounts(costOf(1), (name) => name !== 'pods');
    const { uid: podUid } = before;
    const name = nameOfPod(before);
    const result = await ask({ ...reservationOf(uid, 1), pod: name, amounts: growth, generation: expected });
    const cost = (): Amounts => (isUnchanged() ? growth : NO_AMOUNTS);
    if (isAllowed(result)) promise({ uid: podUid, name, cost, store: () => store(1) }, 0.95);
  }

  async function dryRun(): Promise<void> {
    counts.dryRuns += 1;
    await ask(reservationOf(`dry-${next()}`, 1), true);
  }

  function storePromised(): void {
    const [first] = promised.splice(random.below(promised.length), 1);
    first?.store();
  }

  return {
    request,
    again,
    resize,
    dryRun,
    storePromised,
    forget: () => void (promised = []),
    /** What may still be stored, with its cost. */
    promised: () => {
      promised = promised.filter(({ until }) => until >= time.now());
      return promised.map(({ uid, name = uid, cost }) => ({ uid, name, amounts: cost() }));
    },
  };
}

function isAllowed({ kind }: ReservationResult): boolean {
  return kind === 'reserved' || kind === 'alreadyReserved';
}

function nameOfPod({ uid, name = uid }: CountedPod): string {
  return name;
}

/** What a pod of this name adds to the one that has it. */
function unitsBeyond(amounts: Amounts, present: Amounts | undefined): Amounts {
  if (present === undefined) return amounts;
  const units = unitsOf(amounts) - unitsOf(present);
  return units > 0 ? filterAmounts(costOf(units), (name) => name !== 'pods') : NO_AMOUNTS;
}
