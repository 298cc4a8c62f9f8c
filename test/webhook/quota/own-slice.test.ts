import { beforeEach, describe, expect, test } from 'vitest';
import type { LedgerStore } from '#webhook/quota/ledger-store.ts';
import type { QuotaLedger } from '#webhook/quota/quota-ledger.ts';
import type { ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import { createLedgerRig, pod, reservation, type LedgerRig } from './ledger-rig.ts';

const RESERVED: ReservationResult = { kind: 'reserved' };
const SLICES = { sliceAfterMs: 0 };

describe('the slice of a replica', () => {
  let rig: LedgerRig;

  beforeEach(() => {
    rig = createLedgerRig();
    rig.setLimits({ memory: '1000Gi' });
  });

  /** As many small pods at once, one after the other in time. */
  async function admit(replica: QuotaLedger, names: readonly string[]): Promise<readonly ReservationResult['kind'][]> {
    const kinds: ReservationResult['kind'][] = [];
    for (const name of names) {
      const result = replica.reserve(reservation(name), { withinMs: 1_000, isDryRun: false });
      await rig.clock.advance(100);
      kinds.push((await result).kind);
    }
    return kinds;
  }

  async function busyReplica(options: Parameters<LedgerRig['ledger']>[0] = SLICES): Promise<QuotaLedger> {
    const replica = rig.ledger(options);
    await admit(replica, ['a', 'b', 'c', 'd', 'e', 'f']);
    return replica;
  }

  test('is taken with the fifth pod in ten seconds, twice as large as the demand, and is in used at once', async () => {
    await busyReplica();
    expect({ slices: rig.slices(), used: rig.used(), reserved: rig.reserved() }).toEqual({
      slices: [{ memory: '10Gi', recallRequested: false }],
      used: '16Gi',
      reserved: ['a', 'b', 'c', 'd', 'e', 'f'],
    });
  });

  test('is spent without a write, and enlarged by one before it is empty', async () => {
    const paths: string[] = [];
    const replica = await busyReplica({ ...SLICES, charged: (path) => paths.push(path) });
    const { writes } = rig;
    await admit(replica, ['g', 'h', 'i']);
    expect({ writes: rig.writes - writes, paths: paths.slice(-3) }).toEqual({
      writes: 0,
      paths: ['slice', 'slice', 'slice'],
    });
    await admit(
      replica,
      Array.from({ length: 30 }, (_, index) => `more-${index}`),
    );
    expect(rig.writes - writes).toBeLessThan(6);
    expect(paths.filter((path) => path === 'slice')).toHaveLength(33);
  });

  test.each<[string, Parameters<LedgerRig['ledger']>[0], string]>([
    ['by a replica that has only just begun', { sliceAfterMs: 60_000 }, '1000Gi'],
    ['of a room that is nearly full', SLICES, '30Gi'],
  ])('is not taken %s', async (_, options, memory) => {
    rig.setLimits({ memory });
    await busyReplica(options);
    expect(rig.slices()).toEqual([]);
  });

  test('is turned into reservations when there is no demand any more', async () => {
    const replica = await busyReplica();
    await admit(replica, ['g']);
    await rig.clock.advance(20_000);
    replica.tick();
    await rig.clock.advance(0);
    expect({ slices: rig.slices(), used: rig.used(), last: rig.reserved().at(-1) }).toEqual({
      slices: [],
      used: '7Gi',
      last: 'g',
    });
  });

  test('no longer contains what was counted', async () => {
    const replica = await busyReplica();
    await admit(replica, ['g']);
    rig.pods = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((uid) => pod(uid));
    await rig.recount(replica);
    expect({ slices: rig.slices(), used: rig.used(), reserved: rig.reserved() }).toEqual({
      slices: [{ memory: '14Gi', recallRequested: false }],
      used: '21Gi',
      reserved: [],
    });
  });

  test('is given back when another replica would have to refuse for it', async () => {
    rig.setLimits({ memory: '100Gi' });
    const holder = await busyReplica();
    await admit(holder, ['g']);
    const other = rig.ledger();
    const asked = other.reserve(reservation('large', '92Gi'), { withinMs: 3_000, isDryRun: false });
    await rig.clock.advance(0);
    expect(rig.slices()).toEqual([{ memory: '10Gi', recallRequested: true }]);
    holder.tick();
    await rig.clock.advance(2_000);
    expect(await asked).toEqual(RESERVED);
    expect({ slices: rig.slices(), used: rig.used() }).toEqual({ slices: [], used: '99Gi' });
  });

  test('causes no refusal while its holder is silent, and requests have to retry', async () => {
    rig.setLimits({ memory: '100Gi' });
    await busyReplica();
    expect(await rig.reserve(rig.ledger(), reservation('large', '92Gi'))).toMatchObject({ kind: 'busy' });
    expect(await rig.reserve(rig.ledger(), reservation('far too large', '101Gi'))).toMatchObject({ kind: 'exceeded' });
  });

  test('of a holder that has died is taken back, and not before its last pod must have appeared', async () => {
    await busyReplica();
    const other = rig.ledger();
    await rig.recount(other, 0);
    await rig.recount(other, 149_000);
    expect(rig.slices()).toHaveLength(1);
    await rig.recount(other, 6_000);
    expect({ slices: rig.slices(), used: rig.used() }).toEqual({ slices: [], used: '0' });
  });

  test('of a holder that has died is not taken back while the view may have missed its last pod', async () => {
    await busyReplica();
    const other = rig.ledger();
    await rig.recount(other, 0);
    rig.isProving = false;
    await rig.recount(other, 3_600_000);
    expect(rig.slices()).toHaveLength(1);
  });

  test('is not spent once it has not been written for ten seconds', async () => {
    const replica = await busyReplica();
    rig.faults = Array.from({ length: 500 }, () => 'lost' as const);
    await rig.clock.advance(9_000);
    expect(await admit(replica, ['in time'])).toEqual(['reserved']);
    await rig.clock.advance(1_000);
    expect(await rig.reserve(replica, reservation('late'))).toMatchObject({ kind: 'busy' });
  });

  test('is not spent after the machine has slept, though the monotonic clock stood still', async () => {
    const replica = await busyReplica();
    rig.faults = Array.from({ length: 500 }, () => 'lost' as const);
    rig.clock.setWallTime(rig.clock.now() + 3_600_000);
    expect(await rig.reserve(replica, reservation('late'))).toMatchObject({ kind: 'busy' });
  });

  test('is not spent under limits that have been changed', async () => {
    const replica = await busyReplica();
    rig.setLimits({ memory: '6Gi' });
    rig.pods = ['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => pod(uid));
    expect(await rig.reserve(replica, reservation('g'))).toMatchObject({ kind: 'exceeded' });
    expect({ slices: rig.slices(), used: rig.used() }).toEqual({ slices: [], used: '6Gi' });
  });

  test('reports its usage of a newly limited resource once its pods are seen', async () => {
    const replica = await busyReplica();
    await admit(replica, ['g']);
    rig.setLimits({ memory: '1000Gi', pods: '100' });
    replica.tick();
    expect(await rig.reserve(rig.ledger(), reservation('h'))).toMatchObject({ kind: 'busy' });
    rig.pods = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((uid) => pod(uid));
    expect(await rig.reserve(rig.ledger(), reservation('h'))).toEqual(RESERVED);
  });

  test('is not spent after the quota was recreated with the same name and generation', async () => {
    const replica = await busyReplica();
    await admit(replica, ['charged to the one before']);
    rig.recreate();
    rig.pods = ['a', 'b', 'c', 'd', 'e', 'f'].map((uid) => pod(uid, '166Gi'));
    expect(await rig.reserve(replica, reservation('g', '5Gi'))).toMatchObject({ kind: 'exceeded' });
    replica.tick();
    await rig.clock.advance(1_000);
    expect({ slices: rig.slices(), used: rig.used(), reserved: rig.reserved() }).toEqual({
      slices: [],
      used: '996Gi',
      reserved: [],
    });
  });

  test('is not taken if the API server does not store it, and each pod is charged by a write', async () => {
    rig.unnamed = ['slices'];
    const paths: string[] = [];
    const replica = await busyReplica({ ...SLICES, charged: (path) => paths.push(path) });
    await rig.clock.advance(2_000);
    expect(await admit(replica, ['g', 'h'])).toEqual(['reserved', 'reserved']);
    expect({ reserved: rig.reserved(), paths: new Set(paths) }).toEqual({
      reserved: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
      paths: new Set(['ledger']),
    });
    const { writes } = rig;
    await admit(replica, ['i', 'j', 'k']);
    expect(rig.writes - writes).toBe(3);
    await rig.recount(replica);
    expect(rig.used()).toBe('11Gi');
  });

  test('that is lost leaves what was spent of it among the reservations', async () => {
    const replica = await busyReplica();
    await admit(replica, ['g', 'h']);
    rig.unnamed = ['slices'];
    rig.object = { ...rig.object, state: { ...rig.object.state, slices: new Map() } };
    await rig.reserve(rig.ledger(), reservation('other'));
    await rig.reserve(replica, reservation('i'));
    await rig.clock.advance(10_000);
    replica.tick();
    await rig.clock.advance(1_000);
    expect(rig.reserved().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'other']);
    await rig.recount(rig.ledger());
    expect(rig.used()).toBe('10Gi');
  });

  test('is not spent for a namespace whose pods do not appear, which is charged in the ledger', async () => {
    const paths: string[] = [];
    const replica = await busyReplica({ ...SLICES, charged: (path) => paths.push(path) });
    await rig.clock.advance(9_000);
    replica.tick();
    await rig.recount(replica, 2_000);
    const inOther = { ...reservation('other'), namespace: 'team-b' };
    expect(await rig.reserve(replica, inOther)).toEqual(RESERVED);
    expect(await rig.reserve(replica, reservation('g'))).toEqual(RESERVED);
    expect(paths.slice(-2)).toEqual(['slice', 'ledger']);
  });

  test('has room again when a pod is refused after all, but not for a pod that two requests rely on', async () => {
    const replica = await busyReplica();
    const spend = (uid: string, claim: string): Promise<ReservationResult> =>
      replica.reserve({ ...reservation(uid), claim }, { withinMs: 1_000, isDryRun: false });
    expect(await spend('twin', 'one')).toEqual(RESERVED);
    expect(await spend('twin', 'two')).toEqual({ kind: 'alreadyReserved' });
    expect(await spend('alone', 'three')).toEqual(RESERVED);
    for (const [uid, claim] of [
      ['twin', 'one'],
      ['twin', 'two'],
      ['alone', 'three'],
    ] as const)
      replica.cancel({ ...reservation(uid), claim });
    await replica.close();
    expect(rig.reserved().slice(6)).toEqual(['twin']);
  });

  test('answers a dry run without being spent', async () => {
    const replica = await busyReplica();
    const { writes } = rig;
    for (let index = 0; index < 40; index += 1) {
      const result = replica.reserve(reservation(`dry-${index}`), { withinMs: 1_000, isDryRun: true });
      expect(await result).toEqual(RESERVED);
    }
    expect(rig.writes).toBe(writes);
  });

  test.each(['applied', 'lost', 'late'] as const)(
    'is never spent beyond what the ledger holds when a write is %s without an answer',
    async (fault) => {
      const replica = await busyReplica();
      rig.faults = [fault];
      let admitted = 6;
      for (let index = 0; index < 60; index += 1) {
        const result = replica.reserve(reservation(`pod-${index}`), { withinMs: 5_000, isDryRun: false });
        void result.then(({ kind }) => (admitted += kind === 'reserved' ? 1 : 0));
        await rig.clock.advance(100);
        expect(Number.parseInt(rig.used() ?? '0', 10)).toBeGreaterThanOrEqual(admitted);
      }
      expect(admitted).toBeGreaterThan(50);
    },
  );

  test('is given back on shutdown', async () => {
    const replica = await busyReplica();
    await admit(replica, ['g']);
    await replica.close();
    expect({ slices: rig.slices(), used: rig.used() }).toEqual({ slices: [], used: '7Gi' });
  });

  test('does not block shutdown while the API server does not answer', async () => {
    let isDown = false;
    const stored = rig.store();
    const trouble = { kind: 'trouble', message: 'no answer' } as const;
    const whileUp = <T>(call: () => Promise<T>) => (isDown ? Promise.resolve(trouble) : call());
    const store: LedgerStore = {
      read: () => whileUp(() => stored.read()),
      write: (each) => whileUp(() => stored.write(each)),
    };
    const replica = await busyReplica({ ...SLICES, store });
    isDown = true;
    const closed = { isOver: false };
    void replica.close().then(() => (closed.isOver = true));
    await rig.clock.advance(10_000);
    expect(closed.isOver).toBe(true);
  });
});
