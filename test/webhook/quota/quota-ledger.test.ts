import { beforeEach, describe, expect, test } from 'vitest';
import type { Read } from '#shared/domain/quota/replica/event.ts';
import type { ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import type { QuotaLedger } from '#webhook/quota/quota-ledger.ts';
import { createLedgerRig, decode, pod, reservation, type LedgerRig } from './ledger-rig.ts';

describe('QuotaLedger', () => {
  let rig: LedgerRig;

  beforeEach(() => {
    rig = createLedgerRig();
  });

  test('shares one write between all waiting requests', async () => {
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

  test('refuses what does not fit, naming the largest holders, after a recount', async () => {
    rig.pods = [pod('old', '3584Mi')];
    const result = await rig.reserve(rig.ledger(), reservation('new'));
    expect(result).toMatchObject({ kind: 'exceeded', exceeded: [{ resource: 'memory' }], holders: ['team-a'] });
  });

  test('does not refuse for pods that have gone', async () => {
    rig.pods = [pod('old', '4Gi')];
    const one = rig.ledger();
    await rig.recount(one);
    expect(rig.used()).toBe('4Gi');
    rig.pods = [];
    const result = one.reserve(reservation('second'), { withinMs: 1_000, isDryRun: false });
    await rig.clock.advance(0);
    expect(await result).toEqual({ kind: 'reserved' });
  });

  test('allows a hundred of three hundred concurrent pods on five replicas, and refuses the others', async () => {
    rig.object = decode({ ...rig.object.raw, spec: { priorityClassNames: ['high'], hard: { pods: '100' } } });
    const replicas = Array.from({ length: 5 }, () => rig.ledger());
    const asked = replicas.flatMap((replica, number) =>
      Array.from({ length: 60 }, (_, index) =>
        replica.reserve(reservation(`pod-${number}-${index}`), { withinMs: 60_000, isDryRun: false }),
      ),
    );
    await rig.clock.advance(60_000);
    const result = Map.groupBy(await Promise.all(asked), ({ kind }) => kind);
    expect({ reserved: result.get('reserved')?.length, exceeded: result.get('exceeded')?.length }).toEqual({
      reserved: 100,
      exceeded: 200,
    });
  });

  test('charges the same pod once, however often it is requested', async () => {
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

  test('fails no reservation because of another that cannot be stored', async () => {
    const one = rig.ledger();
    const names = ['a', 'b', 'poison', 'c', 'd', 'e', 'poison-too', 'f'];
    const asked = names.map((uid) => one.reserve(reservation(uid, '1Mi'), { withinMs: 1_000, isDryRun: false }));
    await rig.clock.advance(500);
    const result = await Promise.all(asked);
    const why = 'the API server refuses the charge: status.reservations[0].uid: too long';
    expect(result).toEqual(
      names.map((uid) => (uid.startsWith('poison') ? { kind: 'busy', why } : { kind: 'reserved' })),
    );
    expect([...rig.object.state.reservations.keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('still counts and cancels while something cannot be stored', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    await rig.reserve(one, reservation('gone'));
    rig.pods = [pod('a')];
    one.cancel(reservation('gone'));
    const poisoned = one.reserve(reservation('poison'), { withinMs: 1_000, isDryRun: false });
    await rig.recount(one);
    expect(await poisoned).toMatchObject({ kind: 'busy' });
    expect({ used: rig.used(), reserved: rig.object.state.reservations.size }).toEqual({ used: '1Gi', reserved: 0 });
  });

  test('counts first under new limits, even while something cannot be stored', async () => {
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
    await rig.recount(one);
    await rig.clock.advance(1_000);
    const result = await rig.reserve(one, reservation('b'));
    expect(result.kind).toBe('busy');
  });

  test('says busy, and no more, when it cannot write in time', async () => {
    rig.faults = Array.from({ length: 500 }, () => 'lost' as const);
    expect(await rig.reserve(rig.ledger(), reservation('a'))).toMatchObject({ kind: 'busy' });
  });

  test('says busy in time while a call hangs, and cancels its result', async () => {
    rig.faults = ['late'];
    const answers: [number, ReservationResult][] = [];
    const result = rig.ledger().reserve(reservation('a'), { withinMs: 1_000, isDryRun: false });
    void result.then((outcome) => answers.push([rig.clock.monotonic(), outcome]));
    await rig.clock.advance(1_100);
    expect(answers).toEqual([[1_000, { kind: 'busy', why: 'no result in time' }]]);
    await rig.clock.advance(5_000);
    expect({ used: rig.used(), writes: rig.writes }).toEqual({ used: '0', writes: 2 });
  });

  test('reads the ledger again before it refuses, for another replica may have given room back', async () => {
    const [one, other] = [rig.ledger(), rig.ledger()];
    await rig.reserve(one, reservation('large', '4Gi'));
    await rig.reserve(other, reservation('nothing', '0'));
    rig.object = {
      ...rig.object,
      state: { ...rig.object.state, used: amountsOf({ memory: '0' }), reservations: new Map() },
    };
    expect(await rig.reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
  });

  test('refuses again and again without a write, and reads the ledger each time', async () => {
    const one = rig.ledger();
    rig.pods = [pod('old', '4Gi')];
    await rig.recount(one);
    const { writes, reads } = rig;
    for (const uid of ['a', 'b', 'c']) {
      const result = one.reserve(reservation(uid), { withinMs: 1_000, isDryRun: false });
      await rig.clock.advance(0);
      expect(await result).toMatchObject({ kind: 'exceeded' });
    }
    expect([rig.writes - writes, rig.reads - reads]).toEqual([0, 3]);
  });

  test('writes nothing for a count that changes nothing', async () => {
    const one = rig.ledger();
    rig.pods = [pod('old')];
    await rig.recount(one);
    const { writes } = rig;
    await rig.recount(one, 60_000);
    expect([rig.writes - writes, rig.used()]).toEqual([0, '1Gi']);
    rig.pods = [];
    await rig.recount(one, 60_000);
    expect([rig.writes - writes, rig.used()]).toEqual([1, '0']);
  });

  test('releases a reservation at the next count when its pod has appeared and gone', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('short-lived', '4Gi'));
    rig.ended.add('short-lived');
    expect(await rig.reserve(one, reservation('next', '4Gi'))).toEqual({ kind: 'reserved' });
    expect([...rig.object.state.reservations.keys()]).toEqual(['next']);
  });

  test('answers all requests that there is nothing to charge when the quota is gone', async () => {
    const store = { ...rig.store(), read: () => Promise.resolve<Read>({ kind: 'gone' }) };
    expect(await rig.reserve(rig.ledger({ store }), reservation('a'))).toEqual({ kind: 'gone' });
  });

  test('waits for the next count when the list of reservations is full, and says busy in time', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => reservation(`full-${index}`, '0'));
    rig.object = {
      ...rig.object,
      state: { ...rig.object.state, reservations: new Map(many.map((each) => [each.uid, each])) },
    };
    const one = rig.ledger();
    const why = 'no result in time';
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

  describe('a reservation whose pod does not appear', () => {
    async function usedAfter(one: QuotaLedger, afterMs: number): Promise<string | undefined> {
      await rig.recount(one, afterMs);
      return rig.used();
    }

    test('is given up after two minutes of our own clock', async () => {
      const one = rig.ledger();
      await rig.reserve(one, { ...reservation('a'), admittedAt: Number.MAX_SAFE_INTEGER / 2 ** 10 });
      expect(await usedAfter(one, 5_000)).toBe('1Gi');
      expect(await usedAfter(one, 112_000)).toBe('1Gi');
      expect(await usedAfter(one, 5_000)).toBe('0');
    });

    test('is not given up while the view may have missed it, however long that takes', async () => {
      const view = rig.view();
      const one = rig.ledger({ view });
      await rig.reserve(one, reservation('a'));
      rig.isProving = false;
      view.pods = [];
      expect(await usedAfter(one, 5_000)).toBe('1Gi');
      expect(await usedAfter(one, 3_600_000)).toBe('1Gi');
      rig.pods = [pod('a')];
      view.pods = undefined;
      rig.isProving = true;
      expect(await usedAfter(one, 5_000)).toBe('1Gi');
      expect(rig.object.state.reservations.size).toBe(0);
    });

    test('is not given up by a proof from before its time was over', async () => {
      const view = rig.view();
      const one = rig.ledger({ view });
      await rig.reserve(one, reservation('a'));
      rig.isProving = false;
      expect(await usedAfter(one, 5_000)).toBe('1Gi');
      view.provenAt = rig.clock.monotonic();
      expect(await usedAfter(one, 118_000)).toBe('1Gi');
    });
  });

  test('does not assume that a reservation costs nothing of a resource that is limited later', async () => {
    const one = rig.ledger();
    await rig.reserve(one, reservation('a'));
    rig.setLimits({ pods: '1' });
    expect(await rig.reserve(one, reservation('b'))).toMatchObject({ kind: 'busy' });
    rig.pods = [pod('a')];
    const refused = { kind: 'exceeded', exceeded: [{ resource: 'pods' }] };
    expect(await rig.reserve(one, reservation('b'))).toMatchObject(refused);
  });
});
