/**
 * The ledger of a PriorityQuota in one process. `reserve+commit`: a batch of pods is charged, the pods are seen, and a
 * count takes the place of their reservations, among 20,000 others in 1, 100 and 10,000 namespaces, in interleaved blocks.
 * Also what a count costs after one pod has changed, and the whole path of a replica, promises and JSON included, with
 * a store that answers at once. JSON on stdout; CPU time, so that a busy machine does not matter.
 */
import { loadavg } from 'node:os';
import { encodeAmounts } from '#shared/api/fields.ts';
import { ZERO } from '#shared/domain/quantity/quantity.ts';
import type { LedgerState, Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { LedgerView } from '#shared/domain/quota/replica/replica.ts';
import { applyBatch, type Batch } from '#shared/domain/quota/replica/apply-batch.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { median, rounded } from '#bench/shared/support/quantile.ts';
import { CountedPods } from './counting/counted-pods.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import {
  atRevision,
  decodeLedgerObject,
  withLedger,
  type LedgerObject,
  type LedgerStore,
} from '#webhook/quota/ledger-store.ts';
import { QuotaLedger } from '#webhook/quota/quota-ledger.ts';

const NAMESPACES = [1, 100, 10_000] as const;
const BATCH = 500;
const BATCHES_PER_BLOCK = 40;
const BLOCKS = 15;
const STANDING_PODS = 20_000;
const COUNTS_PER_BLOCK = 200;
const GOAL = { reserveAndCommitPerSecond: 300_000, costAgainst100Namespaces: 1.2 };

const HARD = amountsOf({ pods: '1000000', 'requests.cpu': '1000000', 'requests.memory': '1Pi' });
const COST = amountsOf({ pods: '1', 'requests.cpu': '250m', 'requests.memory': '512Mi' });

interface BenchedLedger {
  readonly namespaces: number;
  /** Everything that one block charges. */
  readonly batches: readonly (readonly Reservation[])[];
  readonly cluster: CountedPods;
  ledger: LedgerObject;
}

function subject(namespaces: number): BenchedLedger {
  const random = randomSource(namespaces);
  const namespace = (): string => `team-${random.below(namespaces)}`;
  const batches = Array.from({ length: BATCHES_PER_BLOCK }, (_, batch) =>
    Array.from({ length: BATCH }, (_, index) => reservation(`uid-${batch}-${index}`, namespace())),
  );
  const cluster = new CountedPods(EMPTY.quota, { pods: STANDING_PODS, namespaces, cost: COST });
  return { namespaces, batches, cluster, ledger: EMPTY };
}

function reservation(uid: string, namespace: string): Reservation {
  return { uid, namespace, pod: uid, amounts: COST, admittedAt: 0, claim: '00000000' };
}

const EMPTY = decoded({
  metadata: { name: 'q', uid: 'q', generation: 1, resourceVersion: '1' },
  spec: { priority: { min: 0, max: 0 }, hard: encodeAmounts(HARD) },
  status: { observedGeneration: 1, used: encodeAmounts(new Map([...HARD.keys()].map((name) => [name, ZERO]))) },
});
const NOTHING_OVER = { isExpired: () => false, isDead: () => false };
const NOTHING_DUE: Batch = {
  pending: [],
  cancelled: [],
  count: undefined,
  isCountDue: false,
  debts: new Map(),
  own: undefined,
};

/** UIDs never come twice. */
let blocks = 0;

function asNewPods(batch: readonly Reservation[]): readonly Reservation[] {
  return batch.map((each) => ({ ...each, uid: `${blocks}-${each.uid}` }));
}

interface BlockTimes {
  /** CPU seconds of reserving every pod once and counting it once. */
  readonly charged: number;
  /** CPU seconds of observing every pod being created and deleted. */
  readonly seen: number;
}

function reserveAndCommit(of: BenchedLedger): BlockTimes {
  blocks += 1;
  let [charged, seen] = [0, 0];
  for (const batch of of.batches.map(asNewPods)) {
    const settled = { state: of.ledger.state };
    charged += secondsOf(() => void (settled.state = chargeAll(of.ledger, batch)));
    seen += secondsOf(() => batch.forEach((each) => of.cluster.appear(each)));
    charged += secondsOf(() => void (of.ledger = countAll({ ...of.ledger, ...settled }, of.cluster)));
    seen += secondsOf(() => batch.forEach((each) => of.cluster.disappear(each)));
  }
  return { charged, seen };
}

function chargeAll(ledger: LedgerObject, batch: readonly Reservation[]): LedgerState {
  const pending = batch.map((each) => ({ reservation: each, isDryRun: false, giveUpAt: Infinity }));
  const { results, state } = applyBatch(ledger, { ...NOTHING_DUE, pending });
  if (results.some(({ kind }) => kind !== 'reserved')) throw new Error('a pod was refused');
  return state;
}

function countAll(ledger: LedgerObject, cluster: CountedPods): LedgerObject {
  const pods = cluster.count();
  const { state } = applyBatch(ledger, { ...NOTHING_DUE, count: { pods, holds: pods.holds, ...NOTHING_OVER } });
  if (state.reservations.size > 0) throw new Error('a pod was not committed');
  return { ...ledger, state };
}

/** CPU seconds of one count after a pod has changed. */
function countOnce({ cluster, batches }: BenchedLedger): number {
  const [batch = []] = batches;
  const all = secondsOf(() => {
    for (let count = 0; count < COUNTS_PER_BLOCK; count += 1) {
      const changed = batch[count];
      if (changed !== undefined) cluster.appear(changed);
      cluster.count();
    }
  });
  return all / COUNTS_PER_BLOCK;
}

/** A replica's path for batches of pods, by writes alone or out of a slice, with a store that encodes and decodes as over the wire. */
async function throughLedger(of: BenchedLedger, sliceAfterMs: number): Promise<number> {
  let stored = JSON.stringify(EMPTY.raw);
  let version = 1;
  const store: LedgerStore = {
    read: () => Promise.resolve({ kind: 'read', version: decoded(JSON.parse(stored)) }),
    write: (write) => {
      version += 1;
      const next = atRevision(withLedger(write), String(version));
      stored = JSON.stringify(next.raw);
      return Promise.resolve({ kind: 'written', version: next });
    },
  };
  const view: LedgerView = {
    count: () => of.cluster.count(),
    isNameTaken: () => false,
    isGone: () => false,
    provenAt: -Infinity,
  };
  const ledger = new QuotaLedger({
    store,
    view,
    reservationMs: 60_000,
    holder: 'bench',
    observed: () => ({ uid: 'q', generation: 1, slices: new Map() }),
    sliceAfterMs,
    sliceLifeMs: 10_000,
    prove: () => undefined,
    charged: () => undefined,
    recounted: () => undefined,
    clock,
    random: () => 0,
  });
  blocks += 1;
  const batches = of.batches.map(asNewPods);
  let taken = 0;
  for (const batch of batches) {
    const before = cpuSeconds();
    await Promise.all(batch.map((each) => ledger.reserve(each, { withinMs: 60_000, isDryRun: false })));
    taken += cpuSeconds() - before;
    for (const each of batch) of.cluster.appear(each);
    ledger.observe();
  }
  for (const each of batches.flat()) of.cluster.disappear(each);
  return taken;
}

function decoded(stored: unknown): LedgerObject {
  const object = decodeLedgerObject(stored as LedgerObject['raw']);
  if (object.ok) return object.value;
  throw new Error(`${object.field}: ${object.message}`);
}

function secondsOf(work: () => void): number {
  const before = cpuSeconds();
  work();
  return cpuSeconds() - before;
}

const subjects = NAMESPACES.map(subject);
const samples = subjects.map(() => ({
  charged: [] as number[],
  seen: [] as number[],
  counted: [] as number[],
  through: [] as number[],
  sliced: [] as number[],
}));
for (let block = -1; block < BLOCKS; block += 1) {
  for (const [index, each] of subjects.entries()) {
    const taken = {
      ...reserveAndCommit(each),
      counted: countOnce(each),
      through: await throughLedger(each, Infinity),
      sliced: await throughLedger(each, 0),
    };
    if (block < 0) continue;
    samples[index]?.charged.push(taken.charged);
    samples[index]?.seen.push(taken.seen);
    samples[index]?.counted.push(taken.counted);
    samples[index]?.through.push(taken.through);
    samples[index]?.sliced.push(taken.sliced);
  }
}

const podsPerBlock = BATCH * BATCHES_PER_BLOCK;
const results = samples.map(({ charged, seen, counted, through, sliced }, index) => ({
  namespaces: NAMESPACES[index],
  reserveAndCommitPerSecond: Math.round(podsPerBlock / median(charged)),
  seeMicrosecondsPerPod: rounded((median(seen) * 1e6) / podsPerBlock, 2),
  countMicroseconds: rounded(median(counted) * 1e6, 1),
  wholePathPerSecond: Math.round(podsPerBlock / median(through)),
  wholePathWithSlicePerSecond: Math.round(podsPerBlock / median(sliced)),
}));
/** The cost of pods in 10,000 namespaces, compared with pods in one and in a hundred. */
function ratios(of: (sample: (typeof samples)[number]) => readonly number[]) {
  const [one, hundred, many] = samples.map((sample) => median(of(sample)));
  const against = (few = NaN): number => rounded((many ?? NaN) / few, 2);
  return { against1: against(one), against100: against(hundred) };
}

const costOf10000Namespaces = {
  reserveAndCommit: ratios(({ charged }) => charged),
  count: ratios(({ counted }) => counted),
  wholePath: ratios(({ through }) => through),
};
const isMet =
  results.every(({ reserveAndCommitPerSecond }) => reserveAndCommitPerSecond >= GOAL.reserveAndCommitPerSecond) &&
  costOf10000Namespaces.reserveAndCommit.against100 <= GOAL.costAgainst100Namespaces;
const machine = { loadAverage: loadavg()[0], node: process.version };
console.log(JSON.stringify({ bench: 'ledger', machine, results, costOf10000Namespaces, goal: GOAL, isMet }, null, 2));
