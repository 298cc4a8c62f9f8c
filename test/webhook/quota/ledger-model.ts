import type { Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { resizeReservationUid } from '#shared/domain/quota/ledger/ledger-state.ts';
import { filterAmounts, NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/amounts.ts';
import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import type { ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import { QuotaLedger } from '#webhook/quota/quota-ledger.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { createModelApiServer, costOf, total, unitsOf, type Lifetime } from './model-api-server.ts';
import { createModelTime } from './model-clock.ts';
import { ModelEarlierReplica } from './model-earlier-replica.ts';
import { ModelInformer } from './model-informer.ts';

export interface ModelOptions {
  readonly seed: number;
  readonly replicas: number;
  readonly hardPods: number;
  /** Times in which many pods end take turns with others, so that there is room for slices now and then. */
  readonly hasTides?: boolean;
  /** So few requests that views of the pods keep up, and a slice stands for seconds between two writes of its holder. */
  readonly isQuiet?: boolean;
  /** As during an upgrade: a replica of the version before counts the pods too. */
  readonly hasEarlier?: boolean;
  /** A planted bug. */
  readonly bug?: Bug;
}

export type Bug =
  | 'listsHaveHoles'
  | 'agesOfViewsAreIgnored'
  | 'proofsAreForged'
  | 'namespacesAreIgnored'
  | 'reservationsExpireAtOnce'
  | 'everybodyTakesBack'
  | 'deletionsAreGuessed'
  | 'slicesAreTakenBackAtOnce'
  | 'resizesAreSeenTooSoon'
  | 'unknownIsNothing'
  | 'earlierCountsAreTrusted';

export interface ModelReport {
  readonly steps: number;
  /** How often each thing happened. */
  readonly counts: Readonly<Record<Happening, number>>;
  readonly recounts: number;
  /** The first broken law, with the step at which it broke. */
  readonly violation: string | undefined;
  /** `used` after everything came to rest and two reservation lives have passed. */
  readonly usedAtRest: number;
  readonly livingAtRest: number;
}

type Happening = (typeof HAPPENINGS)[number];
const HAPPENINGS = [
  'admitted',
  'refused',
  'busy',
  'wasted',
  'dryRuns',
  'repeatedNames',
  'duplicates',
  'takenBack',
  'resized',
  'limitsChanged',
  'crashes',
  'lostAnswers',
  'conflicts',
  'cutOff',
  'stopped',
  'tooLate',
  'listedAnew',
  'spentFromSlices',
] as const;

interface Replica {
  readonly ledger: QuotaLedger;
  readonly lifetime: Lifetime;
  readonly informer: ModelInformer;
}

interface Promised {
  readonly uid: string;
  readonly until: number;
  /** What it adds; nothing once it can no longer be stored. */
  readonly cost: () => Amounts;
  readonly store: () => void;
}

/** The API server gives a request 60 s: later no pod is made of an admission. */
const CREATION_MS = 60_000;
/** And it waits so long for a webhook: more than a slow clock makes of the time within which it answers. */
const WEBHOOK_MS = 10_000;
const MOST_NAMESPACES = 50;
const RESERVATION_MS = 120_000;
const SLICE_LIFE_MS = 10_000;
/** Most stops are short; some outlast a reservation. */
const STOPS_MS = [5_000, 5_000, 5_000, 5_000, 250_000];
const REST_MS = 400_000;
const TURNS_AT_REST = 60;
const MOST_ATTEMPTS = 8;
/** Nothing that this one asks for is ever stored. */
const CARELESS = 'namespace-0';

/**
 * Several replicas on one ledger object and a cluster of pods, everything that takes time put into an order that the
 * seed decides: calls that apply late or whose answers are lost, replicas that die at any point and whose clocks go
 * wrong, that are stopped for minutes or hear of pods and namespaces late, pods that appear late or never, grow, end and
 * go, requests that come twice, names that are taken, dry runs, limits that change.
 */
export async function runLedgerModel(options: ModelOptions, steps: number): Promise<ModelReport> {
  const model = createModel(options);
  let violation: string | undefined;
  let step = 0;
  while (step < steps && violation === undefined) {
    step += 1;
    model.act();
    await settle();
    violation = model.violation();
  }
  if (violation === undefined) await model.rest();
  return { steps: step, violation: violation && `step ${step}: ${violation}`, ...model.report() };
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function createModel({
  seed,
  replicas: size,
  hardPods,
  hasTides = false,
  isQuiet = false,
  hasEarlier = false,
  bug,
}: ModelOptions) {
  const random = randomSource(seed);
  const time = createModelTime();
  const api = createModelApiServer({
    random,
    time,
    hardPods,
    creationMs: CREATION_MS,
    unknownIsNothing: bug === 'unknownIsNothing',
    earlierCountsAreTrusted: bug === 'earlierCountsAreTrusted',
  });
  const counts = Object.fromEntries(HAPPENINGS.map((name) => [name, 0])) as Record<Happening, number>;
  /** What the API server will store. */
  let promised: Promised[] = [];
  let last = 0;
  let isEbb = true;
  /** What the caches know of the quota, some time late. */
  let heard: ObservedQuota = { uid: 'quota', generation: 0, slices: new Map() };

  function startReplica(): Replica {
    const lifetime: Lifetime = { isAlive: true, cutOffUntil: 0, stoppedUntil: 0 };
    const number = (last += 1);
    // Every other one, and it takes no slice itself: what is free in that would make up for what it takes from others.
    const isWrong = bug === 'slicesAreTakenBackAtOnce' && number % 2 === 0;
    // Twice as fast would be just right: 120 s of such a clock are the 60 s that a request may take.
    const clock = time.clock({
      offsetMs: random.below(7_200_000) - 3_600_000,
      rate: 0.7 + random.next(),
      isStopped: () => isStopped(lifetime),
    });
    const informer = new ModelInformer({
      api,
      lifetime,
      clock,
      random,
      listsHaveHoles: bug === 'listsHaveHoles',
      deletionsAreGuessed: bug === 'deletionsAreGuessed',
      agesAreIgnored: bug === 'agesOfViewsAreIgnored',
      proofsAreForged: bug === 'proofsAreForged',
      namespacesAreIgnored: bug === 'namespacesAreIgnored',
    });
    const ledger = new QuotaLedger({
      store: api.storeFor(lifetime),
      view: informer.ledgerView,
      prove: () => void informer.prove(),
      reservationMs: bug === 'reservationsExpireAtOnce' ? 0 : RESERVATION_MS,
      clock,
      random: random.next,
      holder: `replica-${number}`,
      observed: () => heard,
      sliceAfterMs: isWrong ? Infinity : random.pick([0, 20_000]),
      // Three of such lives and a reservation's are no time at all.
      sliceLifeMs: isWrong ? -RESERVATION_MS / 3 : SLICE_LIFE_MS,
      charged: (path) => void (counts.spentFromSlices += path === 'slice' ? 1 : 0),
      recounted: () => undefined,
    });
    return { ledger, lifetime, informer };
  }
  const replicas = Array.from({ length: size }, startReplica);
  const earlier = new ModelEarlierReplica(api);

  function isStopped({ stoppedUntil }: Lifetime): boolean {
    return time.now() < stoppedUntil;
  }

  async function ask(reservation: Reservation, isDryRun = false): Promise<ReservationResult> {
    const claim = bug === 'everybodyTakesBack' ? 'everybody' : `claim-${(last += 1)}`;
    const replica = random.pick(replicas);
    const { ledger, lifetime } = replica;
    const askedAt = time.now();
    const result = await new Promise<ReservationResult>((answer) => {
      const withinMs = 5_000;
      // A process that is stopped reads it once it goes on.
      time.whenAwake(
        () => isStopped(lifetime),
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
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
      const uid = `pod-${(last += 1)}`;
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
    const uid = resizeReservationUid(before.uid, String((last += 1)));
    const growth = filterAmounts(costOf(1), (name) => name !== 'pods');
    const result = await ask({ ...reservationOf(uid, 1), amounts: growth, generation: expected });
    const cost = (): Amounts => (isUnchanged() ? growth : NO_AMOUNTS);
    if (isAllowed(result)) promise({ uid: before.uid, cost, store: () => store(1) }, 0.95);
  }

  function crash(): void {
    counts.crashes += 1;
    const index = random.below(replicas.length);
    const dead = replicas[index];
    if (dead !== undefined) dead.lifetime.isAlive = false;
    replicas[index] = startReplica();
  }

  /** It is asked all the same. */
  function cutOff(): void {
    counts.cutOff += 1;
    random.pick(replicas).lifetime.cutOffUntil = time.now() + random.below(random.pick([5_000, 300_000]));
  }

  function stop(): void {
    counts.stopped += 1;
    random.pick(replicas).lifetime.stoppedUntil = time.now() + random.below(random.pick(STOPS_MS));
  }

  function listAnew(): void {
    counts.listedAnew += 1;
    void random.pick(replicas).informer.begin();
  }

  /** Delivers a change like a watch: some time late; then everything due is done. */
  function hear(): void {
    const { generation, state } = api.stored();
    api.later(() => {
      heard = { uid: 'quota', generation, slices: state.slices };
      for (const { ledger, lifetime } of replicas) if (!isStopped(lifetime)) ledger.observe();
    });
  }

  function onOneAwake(action: (replica: Replica) => void): void {
    const replica = random.pick(replicas);
    if (!isStopped(replica.lifetime)) action(replica);
  }

  function informOne({ informer, ledger }: Replica): void {
    informer.act();
    ledger.observe();
  }

  function addNamespace(): void {
    if (api.namespaces.length < MOST_NAMESPACES) api.addNamespace();
  }

  function storePromised(): void {
    const [next] = promised.splice(random.below(promised.length), 1);
    next?.store();
  }

  /**
   * First some pods end, and cost nothing while they still exist; then they are deleted, and most watches report it.
   */
  function endPod(): void {
    const pod = [...api.pods.values()][random.below(api.pods.size)];
    if (pod === undefined) return;
    if (random.chance(0.3)) api.putPod({ ...pod, amounts: NO_AMOUNTS });
    else api.removePod(pod.uid);
  }

  function changeLimit(): void {
    counts.limitsChanged += 1;
    api.setLimit(1 + random.below(hardPods * 2), time.now(), random.chance(0.8));
  }

  async function dryRun(): Promise<void> {
    counts.dryRuns += 1;
    await ask(reservationOf(`dry-${(last += 1)}`, 1), true);
  }

  function proceed(): void {
    if (!api.proceed()) time.advance(random.below(50));
  }

  const actions: readonly (readonly [number, () => unknown])[] = [
    [isQuiet ? 0.03 : 0.09, request],
    [0.01, dryRun],
    [0.02, resize],
    [0.0003, crash],
    [0.0003, changeLimit],
    [0.0002, cutOff],
    [0.0004, stop],
    [0.0005, listAnew],
    [0.0005, addNamespace],
    [hasEarlier ? 0.01 : 0, () => earlier.recount()],
    [0.02, hear],
    [0.03, () => onOneAwake(({ ledger }) => ledger.tick())],
    [0.3, () => onOneAwake(informOne)],
    [0.1, storePromised],
    [0.01, endPod],
    [hasTides ? 0.1 : 0, () => isEbb && endPod()],
    [0.0005, () => (isEbb = !isEbb)],
    [0.13, () => time.advance(random.below(40))],
    [0.0005, () => time.advance(random.below(30_000))],
  ];

  /** Whatever else happens, calls go on. */
  function act(): void {
    api.proceed();
    let drawn = random.next();
    for (const [share, action] of actions) {
      drawn -= share;
      if (drawn < 0) return void action();
    }
    proceed();
  }

  /** No more faults and no more requests; what was reserved in vain must be given back. */
  async function rest(): Promise<void> {
    api.calmDown();
    api.setLimit(hardPods, time.now());
    promised = [];
    for (const { lifetime } of replicas) Object.assign(lifetime, { stoppedUntil: 0, cutOffUntil: 0 });
    for (let waited = 0; waited < REST_MS; waited += 5_000) {
      hear();
      for (const { ledger } of replicas) ledger.tick();
      for (let turn = 0; turn < TURNS_AT_REST; turn += 1) {
        for (const replica of replicas) informOne(replica);
        proceed();
        await settle();
      }
      time.advance(5_000);
    }
  }

  function report(): Omit<ModelReport, 'steps' | 'violation'> {
    const { state, recounts } = api.stored();
    const { lostAnswers, conflicts } = api;
    return {
      counts: { ...counts, lostAnswers, conflicts },
      recounts,
      usedAtRest: unitsOf(state.used),
      livingAtRest: total(api.pods.values()),
    };
  }
  function violation(): string | undefined {
    promised = promised.filter(({ until }) => until >= time.now());
    return api.violation(
      time.now(),
      promised.map(({ uid, cost }) => ({ uid, amounts: cost() })),
    );
  }
  return { act, rest, report, violation };
}

function isAllowed({ kind }: ReservationResult): boolean {
  return kind === 'reserved' || kind === 'alreadyReserved';
}
