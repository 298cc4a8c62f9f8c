import { beforeEach, describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { Reservation } from '#shared/domain/quota/ledger-state.ts';
import type { CountedPod } from '#shared/domain/quota/pod-count.ts';
import { decodeLedgerObject, withLedger, type LedgerObject } from '#webhook/ledger/ledger-object.ts';
import type { LedgerStore, Read, Written } from '#webhook/ledger/ledger-store.ts';
import { createQuotaLedger, type QuotaLedger } from '#webhook/ledger/quota-ledger.ts';
import type { Settled } from '#webhook/ledger/settle-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { countOf } from '#test/build/pod-count.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';

const WITHOUT_SLICES = {
  holder: 'one',
  news: () => ({ generation: 1, isWanted: false }),
  sliceAfterMs: Infinity,
  sliceLifeMs: 10_000,
  charged: () => undefined,
};
const NO_ANSWER = { kind: 'trouble', message: 'no answer' } as const;

function reservation(uid: string, memory = '1Gi'): Reservation {
  const amounts = amountsOf({ pods: '1', memory });
  return { uid, namespace: 'team-a', pod: uid, amounts, admittedAt: 0, claim: `of ${uid}` };
}

function pod(uid: string, memory = '1Gi'): CountedPod {
  return { uid, namespace: 'team-a', amounts: amountsOf({ pods: '1', memory }) };
}

describe('createQuotaLedger', () => {
  let object: LedgerObject;
  let version: number;
  let writes: number;
  let pods: CountedPod[];
  let clock: ManualClock;
  /** What the next writes answer instead; `applied` takes effect all the same, `late` does so after three seconds. */
  let faults: ('lost' | 'applied' | 'late')[];
  let ended: Set<string>;
  let listings: number;
  let onList: () => Promise<void>;

  beforeEach(() => {
    version = 1;
    writes = 0;
    pods = [];
    faults = [];
    ended = new Set();
    listings = 0;
    clock = manualClock(0);
    onList = () => Promise.resolve();
    object = decode({
      metadata: { name: 'q', uid: 'u', generation: 1, resourceVersion: '1' },
      spec: { priorityClassNames: ['high'], hard: { memory: '4Gi' } },
      status: { observedGeneration: 1, used: { memory: '0' } },
    });
  });

  function decode(raw: unknown): LedgerObject {
    const decoded = decodeLedgerObject(raw as LedgerObject['raw']);
    if (!decoded.ok) throw new Error(decoded.field);
    return decoded.value;
  }

  function store(): LedgerStore {
    return {
      read: () => Promise.resolve<Read>({ kind: 'read', object }),
      write: async (base, state, kind) => {
        writes += 1;
        const fault = faults.shift();
        if (fault === 'lost') return NO_ANSWER;
        if (fault === 'late') await clock.sleep(3_000);
        const written = write(withLedger(base, state, kind));
        return fault === 'applied' ? NO_ANSWER : written;
      },
    };
  }

  /** Stored as JSON, as the API server does. */
  function write({ raw }: LedgerObject): Written {
    if (raw.metadata.resourceVersion !== object.raw.metadata.resourceVersion) return { kind: 'conflict' };
    version += 1;
    const stored = { ...raw, metadata: { ...raw.metadata, resourceVersion: String(version) } };
    object = decode(JSON.parse(JSON.stringify(stored)));
    return { kind: 'written', object };
  }

  function ledger(): QuotaLedger {
    const countPods = async () => {
      listings += 1;
      const counted = countOf(object.quota.hard, pods);
      await onList();
      return counted;
    };
    const hasEnded = (uid: string) => ended.has(uid);
    return createQuotaLedger({
      store: store(),
      countPods,
      hasEnded,
      ...WITHOUT_SLICES,
      reservationMs: 120_000,
      clock,
      random: () => 0.5,
    });
  }

  async function reserve(from: QuotaLedger, each: Reservation, isDryRun = false): Promise<Settled> {
    const settled = from.reserve(each, { withinMs: 1_000, isDryRun });
    await clock.advance(2_000);
    return settled;
  }

  function used(): string | undefined {
    const amount = object.state.used.get('memory');
    return amount && formatQuantity(amount);
  }

  test('shares one write between everybody who waits', async () => {
    const one = ledger();
    const all = Promise.all(
      ['a', 'b', 'c'].map((uid) => one.reserve(reservation(uid), { withinMs: 1_000, isDryRun: false })),
    );
    await clock.advance(0);
    expect(await all).toEqual([{ kind: 'reserved' }, { kind: 'reserved' }, { kind: 'reserved' }]);
    expect({ writes, used: used(), pods: [...object.state.reservations.keys()] }).toEqual({
      writes: 1,
      used: '3Gi',
      pods: ['a', 'b', 'c'],
    });
  });

  test('refuses what does not fit, naming who holds most, after counting the pods themselves', async () => {
    pods = [pod('old', '3584Mi')];
    const one = ledger();
    await one.recount();
    const settled = await reserve(one, reservation('new'));
    expect(settled).toMatchObject({ kind: 'exceeded', exceeded: [{ resource: 'memory' }], holders: ['team-a'] });
    expect(used()).toBe('3584Mi');
  });

  test('does not refuse for pods that have gone', async () => {
    pods = [pod('old', '4Gi')];
    const one = ledger();
    await one.recount();
    pods = [];
    await clock.advance(2_000);
    expect(await reserve(one, reservation('second'))).toEqual({ kind: 'reserved' });
  });

  test('gives a hundred places to three hundred pods that ask five replicas at once, and refuses the others', async () => {
    object = decode({ ...object.raw, spec: { priorityClassNames: ['high'], hard: { pods: '100' } } });
    const replicas = Array.from({ length: 5 }, ledger);
    const asked = replicas.flatMap((replica, number) =>
      Array.from({ length: 60 }, (_, index) =>
        replica.reserve(reservation(`pod-${number}-${index}`), { withinMs: 60_000, isDryRun: false }),
      ),
    );
    await clock.advance(60_000);
    const settled = Map.groupBy(await Promise.all(asked), ({ kind }) => kind);
    expect({ reserved: settled.get('reserved')?.length, exceeded: settled.get('exceeded')?.length }).toEqual({
      reserved: 100,
      exceeded: 200,
    });
  });

  test('charges the same pod once, however often it is asked about', async () => {
    const one = ledger();
    expect(await reserve(one, reservation('a'))).toEqual({ kind: 'reserved' });
    expect(await reserve(one, { ...reservation('a'), claim: 'other' })).toEqual({ kind: 'alreadyReserved' });
    expect(used()).toBe('1Gi');
  });

  test('keeps a reservation that another request relies on, though the first is refused elsewhere', async () => {
    const [first, second] = [ledger(), ledger()];
    await reserve(first, reservation('a'));
    await reserve(second, { ...reservation('a'), claim: 'other' });
    first.cancel(reservation('a'));
    await clock.advance(1_000);
    expect(used()).toBe('1Gi');
  });

  test('finds its own reservation again when the answer to the write was lost', async () => {
    faults = ['applied'];
    expect(await reserve(ledger(), reservation('a'))).toEqual({ kind: 'reserved' });
    expect({ used: used(), writes }).toEqual({ used: '1Gi', writes: 1 });
  });

  test('tries again after a write that never arrived', async () => {
    faults = ['lost'];
    expect(await reserve(ledger(), reservation('a'))).toEqual({ kind: 'reserved' });
    expect(used()).toBe('1Gi');
  });

  test('writes nothing in a dry run', async () => {
    expect(await reserve(ledger(), reservation('a'), true)).toEqual({ kind: 'reserved' });
    expect({ writes, used: used() }).toEqual({ writes: 0, used: '0' });
  });

  test('gives a cancelled reservation back', async () => {
    const one = ledger();
    await reserve(one, reservation('a'));
    one.cancel(reservation('a'));
    await clock.advance(100);
    expect({ used: used(), reservations: object.state.reservations.size }).toEqual({ used: '0', reservations: 0 });
  });

  test('says busy, and no more, when it cannot write in time', async () => {
    faults = Array.from({ length: 500 }, () => 'lost' as const);
    expect(await reserve(ledger(), reservation('a'))).toMatchObject({ kind: 'busy' });
  });

  test('says busy in time while a call hangs, and takes back what comes of it', async () => {
    faults = ['late'];
    const told: [number, Settled][] = [];
    const settled = ledger().reserve(reservation('a'), { withinMs: 1_000, isDryRun: false });
    void settled.then((outcome) => told.push([clock.monotonic(), outcome]));
    await clock.advance(1_100);
    expect(told).toEqual([[1_000, { kind: 'busy', why: 'it could not be settled in time' }]]);
    await clock.advance(5_000);
    expect({ used: used(), writes }).toEqual({ used: '0', writes: 2 });
  });

  test('reads the ledger again before it refuses, for another replica may have given room back', async () => {
    const [one, other] = [ledger(), ledger()];
    await reserve(one, reservation('large', '4Gi'));
    await other.recount();
    await reserve(other, reservation('nothing', '0'));
    other.cancel(reservation('nothing', '0'));
    await clock.advance(1_000);
    object = { ...object, state: { ...object.state, used: amountsOf({ memory: '0' }), reservations: new Map() } };
    expect(await reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
  });

  test('lists the pods before it refuses, but not again and again', async () => {
    const one = ledger();
    pods = [pod('old', '4Gi')];
    await one.recount();
    await clock.advance(2_000);
    const asked = ['a', 'b', 'c'].map((uid) => one.reserve(reservation(uid), { withinMs: 1_000, isDryRun: false }));
    await clock.advance(500);
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['exceeded', 'exceeded', 'exceeded']);
    await reserve(one, reservation('d'));
    expect(listings).toBe(2);
  });

  test('lets small pods in while a large one waits for the list', async () => {
    const listed = Promise.withResolvers<undefined>();
    onList = () => listed.promise;
    const one = ledger();
    const large = one.reserve(reservation('large', '5Gi'), { withinMs: 1_000, isDryRun: false });
    await clock.advance(100);
    const small = one.reserve(reservation('small'), { withinMs: 100, isDryRun: false });
    await clock.advance(50);
    expect(await small).toEqual({ kind: 'reserved' });
    listed.resolve(undefined);
    await clock.advance(100);
    expect(await large).toMatchObject({ kind: 'exceeded' });
  });

  test('gives a reservation back at the next count when its pod has come and gone meanwhile', async () => {
    const one = ledger();
    await reserve(one, reservation('short-lived', '4Gi'));
    ended.add('short-lived');
    expect(await reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
    expect([...object.state.reservations.keys()]).toEqual(['next']);
  });

  test('tells everybody that there is nothing to be charged when the quota is gone', async () => {
    const gone = { ...store(), read: () => Promise.resolve<Read>({ kind: 'gone' }) };
    const countPods = () => Promise.reject(new Error('nobody should count'));
    const options = { ...WITHOUT_SLICES, countPods, hasEnded: () => false, reservationMs: 120_000, clock };
    expect(await reserve(createQuotaLedger({ ...options, store: gone, random: () => 0.5 }), reservation('a'))).toEqual({
      kind: 'gone',
    });
  });

  test('waits for the next count when the list of reservations is full, and says busy in time', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => reservation(`full-${index}`, '0'));
    object = { ...object, state: { ...object.state, reservations: new Map(many.map((each) => [each.uid, each])) } };
    const one = ledger();
    const why = 'it could not be settled in time';
    expect(await reserve(one, reservation('late'))).toEqual({ kind: 'busy', why });
    pods = many.map(({ uid }) => pod(uid, '0'));
    expect(await reserve(one, reservation('a'))).toEqual({ kind: 'reserved' });
  });

  test('counts before it reserves anything under limits that are new', async () => {
    object = { ...object, isCounted: false };
    pods = [pod('old', '4Gi')];
    expect(await reserve(ledger(), reservation('a'))).toMatchObject({ kind: 'exceeded' });
    expect(object.isCounted).toBe(true);
  });

  test('throws its list away when somebody else counted meanwhile', async () => {
    const [slow, quick] = [ledger(), ledger()];
    await reserve(quick, reservation('a'));
    // While the slow replica holds a list without pod a, the pod appears and the other one forgets its reservation.
    const listed = Promise.withResolvers<undefined>();
    onList = async () => {
      onList = () => Promise.resolve();
      await listed.promise;
    };
    const counted = slow.recount();
    await clock.advance(0);
    pods = [pod('a')];
    const recounted = quick.recount();
    await clock.advance(0);
    await recounted;
    expect({ reservations: object.state.reservations.size, used: used() }).toEqual({ reservations: 0, used: '1Gi' });
    listed.resolve(undefined);
    await clock.advance(1_000);
    await counted;
    expect(used()).toBe('1Gi');
  });

  test('gives up a reservation whose pod has not appeared for two minutes of its own clock', async () => {
    const one = ledger();
    await reserve(one, { ...reservation('a'), admittedAt: Number.MAX_SAFE_INTEGER / 2 ** 10 });
    for (const [afterMs, expected] of [
      [0, '1Gi'],
      [119_000, '1Gi'],
      [2_000, '0'],
    ] as const) {
      await clock.advance(afterMs);
      const recounted = one.recount();
      await clock.advance(0);
      await recounted;
      expect(used()).toBe(expected);
    }
  });

  test('keeps what a reservation costs of resources that are limited later', async () => {
    const one = ledger();
    await reserve(one, reservation('a'));
    const { raw } = object;
    version += 1;
    object = decode({
      ...raw,
      metadata: { ...raw.metadata, generation: 2, resourceVersion: String(version) },
      spec: { priorityClassNames: ['high'], hard: { pods: '1' } },
    });
    expect(await reserve(one, reservation('b'))).toMatchObject({ kind: 'exceeded', exceeded: [{ resource: 'pods' }] });
  });
});
