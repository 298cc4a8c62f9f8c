import { beforeEach, describe, expect, test } from 'vitest';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import type { CountedPod, Reservation } from '#shared/domain/quota/ledger.ts';
import { decodeLedgerObject, encodeLedgerObject, type LedgerObject } from '#webhook/ledger/ledger-object.ts';
import type { LedgerStore, Read, Written } from '#webhook/ledger/ledger-store.ts';
import { createQuotaLedger, type QuotaLedger } from '#webhook/ledger/quota-ledger.ts';
import type { Settled } from '#webhook/ledger/settle-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { manualClock, type ManualClock } from '#test/fakes/manual-clock.ts';

const NO_ANSWER = { kind: 'trouble', message: 'no answer' } as const;

function reservation(uid: string, memory = '1Gi'): Reservation {
  return { uid, namespace: 'team-a', pod: uid, amounts: amountsOf({ pods: '1', memory }), admittedAt: 0 };
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
  /** What the next calls answer instead; `applied` takes effect all the same. */
  let faults: ('lost' | 'applied')[];
  let onList: () => Promise<void>;

  beforeEach(() => {
    version = 1;
    writes = 0;
    pods = [];
    faults = [];
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
      write: (base, state, kind) => {
        writes += 1;
        const fault = faults.shift();
        if (fault === 'lost') return Promise.resolve<Written>(NO_ANSWER);
        if (base.raw.metadata.resourceVersion !== object.raw.metadata.resourceVersion)
          return Promise.resolve<Written>({ kind: 'conflict' });
        version += 1;
        const raw = encodeLedgerObject(base, state, kind === 'recount');
        object = decode({ ...raw, metadata: { ...raw.metadata, resourceVersion: String(version) } });
        return Promise.resolve<Written>(fault === 'applied' ? NO_ANSWER : { kind: 'written', object });
      },
    };
  }

  function ledger(): QuotaLedger {
    const listPods = async () => {
      const listed = [...pods];
      await onList();
      return listed;
    };
    return createQuotaLedger({ store: store(), listPods, clock, random: () => 0.5 });
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

  test('charges the same pod once, however often it is asked about', async () => {
    const one = ledger();
    expect(await reserve(one, reservation('a'))).toEqual({ kind: 'reserved' });
    expect(await reserve(one, reservation('a'))).toEqual({ kind: 'alreadyReserved' });
    expect(used()).toBe('1Gi');
  });

  test('finds its own reservation again when the answer to the write was lost', async () => {
    faults = ['applied'];
    expect(await reserve(ledger(), reservation('a'))).toEqual({ kind: 'alreadyReserved' });
    expect(used()).toBe('1Gi');
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
    one.cancel('a');
    await clock.advance(100);
    expect({ used: used(), reservations: object.state.reservations.size }).toEqual({ used: '0', reservations: 0 });
  });

  test('says busy, and no more, when it cannot write in time', async () => {
    faults = Array.from({ length: 500 }, () => 'lost' as const);
    expect(await reserve(ledger(), reservation('a'))).toMatchObject({ kind: 'busy' });
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
