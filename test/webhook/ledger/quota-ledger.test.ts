import { beforeEach, describe, expect, test } from 'vitest';
import type { Read } from '#webhook/ledger/ledger-store.ts';
import type { Settled } from '#webhook/ledger/settle-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { createLedgerRig, decode, pod, reservation, type LedgerRig } from './ledger-rig.ts';

describe('createQuotaLedger', () => {
  let rig: LedgerRig;

  beforeEach(() => {
    rig = createLedgerRig();
  });

  test('shares one write between everybody who waits', async () => {
    const one = rig.ledger();
    const all = Promise.all(
      ['a', 'b', 'c'].map((uid) => one.reserve(reservation(uid), { withinMs: 1_000, isDryRun: false })),
    );
    await rig.clock.advance(0);
    expect(await all).toEqual([{ kind: 'reserved' }, { kind: 'reserved' }, { kind: 'reserved' }]);
    expect({ writes: rig.writes, used: rig.used(), pods: [...rig.object.state.reservations.keys()] }).toEqual({
      writes: 1,
      used: '3Gi',
      pods: ['a', 'b', 'c'],
    });
  });

  test('refuses what does not fit, naming who holds most, after counting the pods themselves', async () => {
    rig.pods = [pod('old', '3584Mi')];
    const one = rig.ledger();
    await one.recount();
    const settled = await rig.reserve(one, reservation('new'));
    expect(settled).toMatchObject({ kind: 'exceeded', exceeded: [{ resource: 'memory' }], holders: ['team-a'] });
    expect(rig.used()).toBe('3584Mi');
  });

  test('does not refuse for pods that have gone', async () => {
    rig.pods = [pod('old', '4Gi')];
    const one = rig.ledger();
    await one.recount();
    rig.pods = [];
    await rig.clock.advance(2_000);
    expect(await rig.reserve(one, reservation('second'))).toEqual({ kind: 'reserved' });
  });

  test('gives a hundred places to three hundred pods that ask five replicas at once, and refuses the others', async () => {
    rig.object = decode({ ...rig.object.raw, spec: { priorityClassNames: ['high'], hard: { pods: '100' } } });
    const replicas = Array.from({ length: 5 }, () => rig.ledger());
    const asked = replicas.flatMap((replica, number) =>
      Array.from({ length: 60 }, (_, index) =>
        replica.reserve(reservation(`pod-${number}-${index}`), { withinMs: 60_000, isDryRun: false }),
      ),
    );
    await rig.clock.advance(60_000);
    const settled = Map.groupBy(await Promise.all(asked), ({ kind }) => kind);
    expect({ reserved: settled.get('reserved')?.length, exceeded: settled.get('exceeded')?.length }).toEqual({
      reserved: 100,
      exceeded: 200,
    });
  });

  test('charges the same pod once, however often it is asked about', async () => {
    const one = rig.ledger();
    expect(await rig.reserve(one, reservation('a'))).toEqual({ kind: 'reserved' });
    expect(await rig.reserve(one, { ...reservation('a'), claim: 'other' })).toEqual({ kind: 'alreadyReserved' });
    expect(rig.used()).toBe('1Gi');
  });

  test('keeps a reservation that another request relies on, though the first is refused elsewhere', async () => {
    const [first, second] = [rig.ledger(), rig.ledger()];
    await rig.reserve(first, reservation('a'));
    await rig.reserve(second, { ...reservation('a'), claim: 'other' });
    first.cancel(reservation('a'));
    await rig.clock.advance(1_000);
    expect(rig.used()).toBe('1Gi');
  });

  test('finds its own reservation again when the answer to the write was lost', async () => {
    rig.faults = ['applied'];
    expect(await rig.reserve(rig.ledger(), reservation('a'))).toEqual({ kind: 'reserved' });
    expect({ used: rig.used(), writes: rig.writes }).toEqual({ used: '1Gi', writes: 1 });
  });

  test('tries again after a write that never arrived', async () => {
    rig.faults = ['lost'];
    expect(await rig.reserve(rig.ledger(), reservation('a'))).toEqual({ kind: 'reserved' });
    expect(rig.used()).toBe('1Gi');
  });

  test('writes nothing in a dry run', async () => {
    expect(await rig.reserve(rig.ledger(), reservation('a'), true)).toEqual({ kind: 'reserved' });
    expect({ writes: rig.writes, used: rig.used() }).toEqual({ writes: 0, used: '0' });
  });

  test('gives a cancelled reservation back', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    one.cancel(reservation('a'));
    await rig.clock.advance(100);
    expect({ used: rig.used(), reservations: rig.object.state.reservations.size }).toEqual({
      used: '0',
      reservations: 0,
    });
  });

  test('fails nobody for the sake of a reservation that cannot be stored', async () => {
    const one = rig.ledger();
    const names = ['a', 'b', 'poison', 'c', 'd', 'e', 'poison-too', 'f'];
    const asked = names.map((uid) => one.reserve(reservation(uid, '1Mi'), { withinMs: 1_000, isDryRun: false }));
    await rig.clock.advance(500);
    const settled = await Promise.all(asked);
    const why = 'the API server refuses the charge: status.reservations[0].uid: too long';
    expect(settled).toEqual(
      names.map((uid) => (uid.startsWith('poison') ? { kind: 'busy', why } : { kind: 'reserved' })),
    );
    expect([...rig.object.state.reservations.keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('counts and takes back all the same while something cannot be stored', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    await rig.reserve(one, reservation('gone'));
    rig.pods = [pod('a')];
    one.cancel(reservation('gone'));
    const poisoned = one.reserve(reservation('poison'), { withinMs: 1_000, isDryRun: false });
    const counted = one.recount();
    await rig.clock.advance(2_000);
    await counted;
    expect(await poisoned).toMatchObject({ kind: 'busy' });
    expect({ used: rig.used(), reserved: rig.object.state.reservations.size }).toEqual({ used: '1Gi', reserved: 0 });
  });

  test('counts first under new limits, also while something cannot be stored', async () => {
    rig.setLimits({ memory: '2Gi' });
    const one = rig.ledger();
    const asked = ['poison', 'a', 'b'].map((uid) =>
      one.reserve(reservation(uid), { withinMs: 5_000, isDryRun: false }),
    );
    await rig.clock.advance(4_000);
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['busy', 'reserved', 'reserved']);
  });

  test.each(['used', 'reservations', 'recounts'])('reserves nothing where status.%s is not stored', async (part) => {
    rig.unnamed = [part];
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    const counted = one.recount();
    await rig.clock.advance(1_000);
    await counted;
    const settled = await rig.reserve(one, reservation('b'));
    expect(settled.kind).toBe('busy');
  });

  test('says busy, and no more, when it cannot write in time', async () => {
    rig.faults = Array.from({ length: 500 }, () => 'lost' as const);
    expect(await rig.reserve(rig.ledger(), reservation('a'))).toMatchObject({ kind: 'busy' });
  });

  test('says busy in time while a call hangs, and takes back what comes of it', async () => {
    rig.faults = ['late'];
    const told: [number, Settled][] = [];
    const settled = rig.ledger().reserve(reservation('a'), { withinMs: 1_000, isDryRun: false });
    void settled.then((outcome) => told.push([rig.clock.monotonic(), outcome]));
    await rig.clock.advance(1_100);
    expect(told).toEqual([[1_000, { kind: 'busy', why: 'it could not be settled in time' }]]);
    await rig.clock.advance(5_000);
    expect({ used: rig.used(), writes: rig.writes }).toEqual({ used: '0', writes: 2 });
  });

  test('reads the ledger again before it refuses, for another replica may have given room back', async () => {
    const [one, other] = [rig.ledger(), rig.ledger()];
    await rig.reserve(one, reservation('large', '4Gi'));
    await other.recount();
    await rig.reserve(other, reservation('nothing', '0'));
    other.cancel(reservation('nothing', '0'));
    await rig.clock.advance(1_000);
    rig.object = {
      ...rig.object,
      state: { ...rig.object.state, used: amountsOf({ memory: '0' }), reservations: new Map() },
    };
    expect(await rig.reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
  });

  test('lists the pods before it refuses, but not again and again', async () => {
    const one = rig.ledger();
    rig.pods = [pod('old', '4Gi')];
    await one.recount();
    await rig.clock.advance(2_000);
    const asked = ['a', 'b', 'c'].map((uid) => one.reserve(reservation(uid), { withinMs: 1_000, isDryRun: false }));
    await rig.clock.advance(500);
    expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['exceeded', 'exceeded', 'exceeded']);
    await rig.reserve(one, reservation('d'));
    expect(rig.listings).toBe(2);
  });

  test('lets small pods in while a large one waits for the list', async () => {
    const listed = Promise.withResolvers<undefined>();
    rig.onList = () => listed.promise;
    const one = rig.ledger();
    const large = one.reserve(reservation('large', '5Gi'), { withinMs: 1_000, isDryRun: false });
    await rig.clock.advance(100);
    const small = one.reserve(reservation('small'), { withinMs: 100, isDryRun: false });
    await rig.clock.advance(50);
    expect(await small).toEqual({ kind: 'reserved' });
    listed.resolve(undefined);
    await rig.clock.advance(100);
    expect(await large).toMatchObject({ kind: 'exceeded' });
  });

  test('gives a reservation back at the next count when its pod has come and gone meanwhile', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('short-lived', '4Gi'));
    rig.ended.add('short-lived');
    expect(await rig.reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
    expect([...rig.object.state.reservations.keys()]).toEqual(['next']);
  });

  test('tells everybody that there is nothing to be charged when the quota is gone', async () => {
    const store = { ...rig.store(), read: () => Promise.resolve<Read>({ kind: 'gone' }) };
    const countPods = () => Promise.reject(new Error('nobody should count'));
    expect(await rig.reserve(rig.ledger({ store, countPods }), reservation('a'))).toEqual({ kind: 'gone' });
  });

  test('waits for the next count when the list of reservations is full, and says busy in time', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => reservation(`full-${index}`, '0'));
    rig.object = {
      ...rig.object,
      state: { ...rig.object.state, reservations: new Map(many.map((each) => [each.uid, each])) },
    };
    const one = rig.ledger();
    const why = 'it could not be settled in time';
    expect(await rig.reserve(one, reservation('late'))).toEqual({ kind: 'busy', why });
    rig.pods = many.map(({ uid }) => pod(uid, '0'));
    expect(await rig.reserve(one, reservation('a'))).toEqual({ kind: 'reserved' });
  });

  test('counts before it reserves anything under limits that are new', async () => {
    rig.object = { ...rig.object, isCounted: false };
    rig.pods = [pod('old', '4Gi')];
    expect(await rig.reserve(rig.ledger(), reservation('a'))).toMatchObject({ kind: 'exceeded' });
    expect(rig.object.isCounted).toBe(true);
  });

  test('throws its list away when somebody else counted meanwhile', async () => {
    const [slow, quick] = [rig.ledger(), rig.ledger()];
    await rig.reserve(quick, reservation('a'));
    // While the slow replica holds a list without pod a, the pod appears and the other one forgets its reservation.
    const listed = Promise.withResolvers<undefined>();
    rig.onList = async () => {
      rig.onList = () => Promise.resolve();
      await listed.promise;
    };
    const counted = slow.recount();
    await rig.clock.advance(0);
    rig.pods = [pod('a')];
    const recounted = quick.recount();
    await rig.clock.advance(0);
    await recounted;
    expect({ reservations: rig.object.state.reservations.size, used: rig.used() }).toEqual({
      reservations: 0,
      used: '1Gi',
    });
    listed.resolve(undefined);
    await rig.clock.advance(1_000);
    await counted;
    expect(rig.used()).toBe('1Gi');
  });

  test('gives up a reservation whose pod has not appeared for two minutes of its own clock', async () => {
    const one = rig.ledger();
    await rig.reserve(one, { ...reservation('a'), admittedAt: Number.MAX_SAFE_INTEGER / 2 ** 10 });
    for (const [afterMs, expected] of [
      [0, '1Gi'],
      [119_000, '1Gi'],
      [2_000, '0'],
    ] as const) {
      await rig.clock.advance(afterMs);
      const recounted = one.recount();
      await rig.clock.advance(0);
      await recounted;
      expect(rig.used()).toBe(expected);
    }
  });

  test('does not take for nothing what a reservation costs of a resource that is limited later', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    rig.setLimits({ pods: '1' });
    expect(await rig.reserve(one, reservation('b'))).toMatchObject({ kind: 'busy' });
    rig.pods = [pod('a')];
    const refused = { kind: 'exceeded', exceeded: [{ resource: 'pods' }] };
    expect(await rig.reserve(one, reservation('b'))).toMatchObject(refused);
  });
});
