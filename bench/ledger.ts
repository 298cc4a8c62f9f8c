/**
 * The ledger of a PriorityQuota in one process. `reserve+commit`: a batch of pods is charged, and a count that finds them
 * all takes the place of their reservations, with pods spread over 1, 100 and 10,000 namespaces in interleaved blocks.
 * Beside it what a count costs for each pod that is there, and the whole path of a replica, promises and JSON included,
 * with a store that answers at once. JSON on stdout; CPU time, so that a busy machine does not matter.
 */
import { loadavg } from 'node:os';
import type { Amounts } from '#shared/domain/model/amounts.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { prepareSelector } from '#shared/domain/model/label-selector.ts';
import { EMPTY_LEDGER, type Reservation } from '#shared/domain/quota/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/limited-amounts.ts';
import type { CountedPod } from '#shared/domain/quota/pod-count.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { amountsOf, selectorOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { atRevision, decodeLedgerObject, withLedger, type LedgerObject } from '#webhook/ledger/ledger-object.ts';
import type { LedgerStore } from '#webhook/ledger/ledger-store.ts';
import { createQuotaLedger } from '#webhook/ledger/quota-ledger.ts';
import { settleBatch } from '#webhook/ledger/settle-batch.ts';

const NAMESPACES = [1, 100, 10_000] as const;
const BATCH = 500;
const BATCHES_PER_BLOCK = 40;
const BLOCKS = 15;
const STANDING_PODS = 20_000;
const GOAL = { reserveAndCommitPerSecond: 300_000, costAgainst100Namespaces: 1.2 };

const HARD = amountsOf({ pods: '1000000', 'requests.cpu': '1000000', 'requests.memory': '1Pi' });
const COST = amountsOf({ pods: '1', 'requests.cpu': '250m', 'requests.memory': '512Mi' });

interface Subject {
  readonly namespaces: number;
  /** Everything that one block charges. */
  readonly batches: readonly (readonly Reservation[])[];
  readonly standing: readonly CountedPod[];
  ledger: LedgerObject;
}

function subject(namespaces: number): Subject {
  const random = randomSource(namespaces);
  const namespace = (): string => `team-${random.below(namespaces)}`;
  const batches = Array.from({ length: BATCHES_PER_BLOCK }, (_, batch) =>
    Array.from({ length: BATCH }, (_, index) => reservation(`uid-${batch}-${index}`, namespace())),
  );
  const standing = Array.from({ length: STANDING_PODS }, (_, index) => ({
    uid: `standing-${index}`,
    namespace: `team-${index % namespaces}`,
    amounts: COST,
  }));
  return { namespaces, batches, standing, ledger: emptyLedger() };
}

function reservation(uid: string, namespace: string): Reservation {
  return { uid, namespace, pod: uid, amounts: COST, admittedAt: 0, claim: '00000000' };
}

function printed(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}

function emptyLedger(): LedgerObject {
  const metadata = { name: 'q', uid: 'q', generation: 1, resourceVersion: '1' };
  const quota = {
    name: 'q',
    namespaces: prepareSelector(selectorOf({})),
    scope: { kind: 'range', min: 0, max: 0 },
    hard: HARD,
  } as const;
  const state = { ...EMPTY_LEDGER, used: limitedAmounts(EMPTY_LEDGER.used, HARD) };
  const spec = { priority: { min: 0, max: 0 }, hard: printed(HARD) };
  return { raw: { metadata, spec }, quota, state, isCounted: true, recounts: 0 };
}

const debts = new Map<string, number>();
const NOTHING_OVER = { isExpired: () => false, isDead: () => false };

/** CPU seconds of one block: every pod is reserved once and counted once. */
function reserveAndCommit(of: Subject): number {
  return cpuSeconds(() => {
    for (const batch of of.batches) {
      const wishes = batch.map((each) => ({ reservation: each, isDryRun: false }));
      const charged = settleBatch(of.ledger, { wishes, cancelled: [], count: undefined, own: undefined, debts });
      const base = { ...of.ledger, state: charged.state };
      const count = { begun: base, pods: countOf(HARD, batch), ...NOTHING_OVER };
      const counted = settleBatch(base, { wishes: [], cancelled: [], count, own: undefined, debts });
      of.ledger = { ...base, state: counted.state };
      if (charged.settled.some(({ kind }) => kind !== 'reserved')) throw new Error('a pod was refused');
      if (counted.state.reservations.size > 0) throw new Error('a pod was not committed');
    }
  });
}

function countStanding(of: Subject): number {
  return cpuSeconds(() => {
    const count = { begun: of.ledger, pods: countOf(HARD, of.standing), ...NOTHING_OVER };
    settleBatch(of.ledger, { wishes: [], cancelled: [], count, own: undefined, debts });
  });
}

/** A replica's path for batches of pods, by writes alone or out of a slice, with a store that encodes and decodes as over the wire. */
async function throughLedger(of: Subject, sliceAfterMs: number): Promise<number> {
  let stored = JSON.stringify(withLedger(emptyLedger(), emptyLedger().state, 'recount').raw);
  let version = 1;
  let present: readonly Reservation[] = [];
  const store: LedgerStore = {
    read: () => Promise.resolve({ kind: 'read', object: decoded(stored) }),
    write: (base, state, kind) => {
      version += 1;
      const next = atRevision(withLedger(base, state, kind), String(version));
      stored = JSON.stringify(next.raw);
      return Promise.resolve({ kind: 'written', object: next });
    },
  };
  const countPods = () => Promise.resolve(countOf(HARD, present));
  const ledger = createQuotaLedger({
    store,
    countPods,
    hasEnded: () => false,
    reservationMs: 1,
    holder: 'bench',
    news: () => ({ uid: 'q', generation: 1, slices: new Map() }),
    sliceAfterMs,
    sliceLifeMs: 10_000,
    charged: () => undefined,
    clock,
    random: () => 0,
  });
  const before = process.cpuUsage();
  for (const batch of of.batches) {
    await Promise.all(batch.map((each) => ledger.reserve(each, { withinMs: 60_000, isDryRun: false })));
    present = batch;
    await ledger.recount();
  }
  return seconds(process.cpuUsage(before));
}

function decoded(stored: string): LedgerObject {
  const object = decodeLedgerObject(JSON.parse(stored) as LedgerObject['raw']);
  if (object.ok) return object.value;
  throw new Error(`${object.field}: ${object.message}`);
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return seconds(process.cpuUsage(before));
}

function seconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

const subjects = NAMESPACES.map(subject);
const samples = subjects.map(() => ({
  charged: [] as number[],
  counted: [] as number[],
  through: [] as number[],
  sliced: [] as number[],
}));
for (let block = -1; block < BLOCKS; block += 1) {
  for (const [index, each] of subjects.entries()) {
    const taken = {
      charged: reserveAndCommit(each),
      counted: countStanding(each),
      through: await throughLedger(each, Infinity),
      sliced: await throughLedger(each, 0),
    };
    if (block < 0) continue;
    samples[index]?.charged.push(taken.charged);
    samples[index]?.counted.push(taken.counted);
    samples[index]?.through.push(taken.through);
    samples[index]?.sliced.push(taken.sliced);
  }
}

const podsPerBlock = BATCH * BATCHES_PER_BLOCK;
const results = samples.map(({ charged, counted, through, sliced }, index) => ({
  namespaces: NAMESPACES[index],
  reserveAndCommitPerSecond: Math.round(podsPerBlock / median(charged)),
  countMicrosecondsPerPod: Math.round((median(counted) * 1e9) / STANDING_PODS) / 1_000,
  wholePathPerSecond: Math.round(podsPerBlock / median(through)),
  wholePathWithSlicePerSecond: Math.round(podsPerBlock / median(sliced)),
}));
/** What pods over 10,000 namespaces cost, against pods over one and over a hundred. */
function ratios(of: (sample: (typeof samples)[number]) => readonly number[]) {
  const [one, hundred, many] = samples.map((sample) => median(of(sample)));
  const against = (few = NaN): number => Math.round(((many ?? NaN) / few) * 100) / 100;
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
