import { NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { createModelApiServer, total } from './model-api-server.ts';
import { unitsOf } from './model-understatement.ts';
import { createModelTime } from './model-clock.ts';
import { ModelEarlierReplica } from './model-earlier-replica.ts';
import { type Happening, HAPPENINGS, type ModelOptions, type ModelReport } from './model-options.ts';
import { createModelRequests, CREATION_MS } from './model-requests.ts';
import { isStopped, type Replica, startModelReplica } from './model-replica.ts';

const MAX_NAMESPACES = 50;
/** Most stops are short; some outlast a reservation. */
const STOPS_MS = [5_000, 5_000, 5_000, 5_000, 250_000];
const REST_MS = 400_000;
const TURNS_AT_REST = 60;

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
  asksAgain = false,
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
  let last = 0;
  let isEbb = true;
  /** What the caches know of the quota, some time late. */
  let heard: ObservedQuota = { uid: 'quota', generation: 0, slices: new Map() };

  function startReplica(): Replica {
    return startModelReplica((last += 1), {
      api,
      time,
      random,
      bug,
      heard: () => heard,
      charged: (path) => void (counts.spentFromSlices += path === 'slice' ? 1 : 0),
    });
  }
  const replicas = Array.from({ length: size }, startReplica);
  const requests = createModelRequests({ api, time, random, bug, replicas, counts, next: () => (last += 1) });
  const earlier = new ModelEarlierReplica(api);

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
      for (const { ledger, lifetime } of replicas) if (!isStopped(lifetime, time)) ledger.observe();
    });
  }

  function onOneAwake(action: (replica: Replica) => void): void {
    const replica = random.pick(replicas);
    if (!isStopped(replica.lifetime, time)) action(replica);
  }

  function informOne({ informer, ledger }: Replica): void {
    informer.act();
    ledger.observe();
  }

  function addNamespace(): void {
    if (api.namespaces.length < MAX_NAMESPACES) api.addNamespace();
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

  function proceed(): void {
    if (!api.proceed()) time.advance(random.below(50));
  }

  const actions: readonly (readonly [number, () => unknown])[] = [
    [isQuiet ? 0.03 : 0.09, requests.request],
    [0.01, requests.dryRun],
    [0.02, requests.resize],
    [asksAgain ? 0.02 : 0, requests.again],
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
    [0.1, requests.storePromised],
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
    requests.forget();
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
    return api.violation(time.now(), requests.promised());
  }
  return { act, rest, report, violation };
}
