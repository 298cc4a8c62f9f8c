import { describe, expect, test } from 'vitest';
import type { LedgerEffect } from '#shared/domain/quota/replica/event.ts';
import type { LedgerVersion, PendingReservation } from '#shared/domain/quota/replica/apply-batch.ts';
import type { LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import {
  createReplicaRig,
  HOLDER,
  kindsOf,
  pendingOf,
  type ReplicaRig,
  reservation,
  sliceOf,
  stateOf,
  versionOf,
} from './replica-rig.ts';

/** Effects in a few words: `answer a reserved`, `charged slice`. */
function print(effects: readonly LedgerEffect[]): readonly string[] {
  return effects.map((each) => {
    if (each.kind === 'answer') return `answer ${each.pending.reservation.uid} ${each.result.kind}`;
    if (each.kind === 'charged') return `charged ${each.path}`;
    return each.kind === 'recounted' ? `recounted ${each.result}` : each.kind;
  });
}

/** A replica that knows this version since it was read. */
function knowing(version: LedgerVersion): ReplicaRig {
  const rig = createReplicaRig();
  rig.tick();
  rig.read(version);
  return rig;
}

function writtenState(effects: readonly LedgerEffect[]): LedgerState {
  const [state] = effects.flatMap((each) => (each.kind === 'write' ? [each.write.state] : []));
  if (state === undefined) throw new Error('nothing is written');
  return state;
}

/** Answers a write as an API server that stores it. */
function store(rig: ReplicaRig, effects: readonly LedgerEffect[], revision: string, more: Partial<LedgerVersion> = {}) {
  const version = versionOf({ revision, state: writtenState(effects), ...more });
  return rig.send({ kind: 'wrote', result: { kind: 'written', version } });
}

function request(rig: ReplicaRig, pending: PendingReservation): readonly LedgerEffect[] {
  expect(rig.ask(pending)).toEqual([{ kind: 'schedule' }]);
  return rig.send({ kind: 'due' });
}

describe('an answer over a ledger', () => {
  const large = pendingOf('large', '2000Gi');
  const dry = pendingOf('dry', '1Gi', { isDryRun: true });
  const again = { ...pendingOf('old'), reservation: reservation('old', '1Gi', { claim: 'other' }) };
  const held = pendingOf('held', '999Gi');
  const shared = stateOf('11Gi', [reservation('old')], [sliceOf('other', '10Gi', { recallRequested: true })]);

  test.each<[string, PendingReservation, readonly string[]]>([
    ['a dry run', dry, ['answer dry reserved']],
    ['a pod that is reserved by another request', again, ['write']],
    ['an excess, which is decided on what is stored now', large, ['read']],
    ['room that others hold, likewise', held, ['read']],
  ])('that was read earlier: %s', (_, pending, effects) => {
    expect(print(request(knowing(versionOf({ state: shared })), pending))).toEqual(effects);
  });

  test.each<[string, PendingReservation, (rig: ReplicaRig) => void, readonly string[]]>([
    ['an excess by a count', large, () => undefined, ['answer large exceeded']],
    ['an excess while not all pods are known', large, (rig) => (rig.isFilled = false), []],
    ['an excess by a newer count than its own', large, makeBehind, ['answer large exceeded']],
    ['room that others hold', held, () => undefined, []],
    ['a dry run while not all pods are known', dry, (rig) => (rig.isFilled = false), ['answer dry reserved']],
  ])('that was just read: %s', (_, pending, prepare, effects) => {
    const rig = createReplicaRig();
    prepare(rig);
    request(rig, pending);
    const version = versionOf({ state: shared, recounts: 1, counted: { pods: 50, namespaces: 1 } });
    expect(print(rig.read(version))).toEqual(effects);
    expect(rig.send({ kind: 'due' })).toEqual([]);
  });

  function makeBehind(rig: ReplicaRig): void {
    rig.reached = { pods: 49, namespaces: 1 };
  }

  test('with a write is given once that is stored, and charged then', () => {
    const rig = createReplicaRig();
    const small = pendingOf('small', '1Gi');
    rig.ask(small);
    rig.ask(large);
    rig.ask(dry);
    rig.send({ kind: 'due' });
    const effects = rig.read(versionOf());
    expect(print(effects)).toEqual(['write']);
    expect(rig.ask(pendingOf('meanwhile'))).toEqual([]);
    expect(print(store(rig, effects, '2'))).toEqual([
      'charged ledger',
      'answer small reserved',
      'answer large exceeded',
      'answer dry reserved',
      'write',
    ]);
  });

  test('waits where limits have not been counted and the pods are not known', () => {
    const rig = createReplicaRig();
    rig.isFilled = false;
    rig.ask(pendingOf('a'));
    rig.tick();
    expect(print(rig.read(versionOf({ isCounted: false })))).toEqual(['recounted failed']);
    rig.isFilled = true;
    expect(kindsOf(rig.at(1_000).observe())).toEqual(['read']);
    expect([...writtenState(rig.read(versionOf({ isCounted: false }))).reservations.keys()]).toEqual(['a']);
  });

  test('of a recount names what the counted view held; of a charge alone nothing', () => {
    const rig = createReplicaRig();
    request(rig, pendingOf('a'));
    expect(rig.read(versionOf())).toMatchObject([{ write: { counted: { pods: 7, namespaces: 7 } } }]);
    const blind = createReplicaRig();
    blind.isFilled = false;
    request(blind, pendingOf('a'));
    expect(blind.read(versionOf())).toMatchObject([{ write: { counted: undefined } }]);
  });

  test('drops reservations whose pods are gone, a resize with its pod', () => {
    const rig = createReplicaRig();
    rig.gone.add('gone');
    const reservations = ['gone', 'gone.request', 'other'].map((uid) => reservation(uid));
    rig.tick();
    const effects = rig.read(versionOf({ state: stateOf('3Gi', reservations) }));
    expect([...writtenState(effects).reservations.keys()]).toEqual(['other']);
  });

  test('drops what has expired: a reservation, and the slice of a silent holder', () => {
    const rig = createReplicaRig();
    const state = stateOf('5Gi', [reservation('late')], [sliceOf('silent', '4Gi')]);
    rig.tick();
    expect(print(rig.read(versionOf({ state })))).toEqual(['recounted done']);
    const expire = (ms: number): readonly string[] => {
      rig.provenAt = ms;
      rig.at(ms).tick();
      const effects = rig.read(versionOf({ state }));
      if (!kindsOf(effects).includes('write')) return ['late', 'silent'];
      const { reservations, slices } = writtenState(effects);
      store(rig, effects, '2', { state });
      return [...reservations.keys(), ...slices.keys()];
    };
    expect([119_999, 120_000, 149_999, 150_000].map(expire)).toEqual([['late', 'silent'], ['silent'], ['silent'], []]);
  });
});

describe('a recount of another replica', () => {
  test.each([
    ['the same recount', { recounts: 1 }, 'write'],
    ['a newer recount', { recounts: 2 }, 'recounted done'],
    ['that of a recreated quota', { recounts: 1, uid: 'recreated' }, 'recounted done'],
  ])('is known since it was first seen: %s', (_, more, effect) => {
    const rig = createReplicaRig();
    rig.at(10).tick();
    rig.read(versionOf({ recounts: 1 }));
    rig.provenAt = 10;
    rig.at(20).tick();
    expect(print(rig.read(versionOf({ state: stateOf('5Gi'), ...more })))).toEqual([effect]);
  });
});

describe('a slice', () => {
  /** A replica with a slice, after six pods. */
  function slicing(): ReplicaRig {
    const rig = createReplicaRig();
    for (const uid of ['a', 'b', 'c', 'd', 'e']) rig.ask(pendingOf(uid));
    rig.send({ kind: 'due' });
    const first = rig.read(versionOf());
    store(rig, first, '2');
    const state = writtenState(first);
    rig.ask(pendingOf('f'));
    const effects = rig.send({ kind: 'due' });
    expect(printAmounts(writtenState(effects).slices.get(HOLDER)?.amounts ?? new Map())).toEqual({ memory: '10Gi' });
    expect([...writtenState(effects).reservations.keys()]).toEqual([...state.reservations.keys(), 'f']);
    store(rig, effects, '3');
    return rig;
  }

  test('is spent without a write, until half of its pods are spent', () => {
    const rig = slicing();
    const spent = ['g', 'h', 'i', 'j', 'k'].map((uid) => print(rig.ask(pendingOf(uid))));
    expect(spent).toEqual([
      ...['g', 'h', 'i', 'j'].map((uid) => [`answer ${uid} reserved`, 'charged slice']),
      ['answer k reserved', 'charged slice', 'schedule'],
    ]);
    const [other] = rig.send({ kind: 'due' });
    expect(other?.kind).toBe('write');
  });

  test('answers a dry run and charges nothing', () => {
    const dry = pendingOf('dry', '1Gi', { isDryRun: true });
    expect(print(slicing().ask(dry))).toEqual(['answer dry reserved']);
  });

  test('takes a cancelled charge back without a write; what is not in it is cancelled in the ledger', () => {
    const rig = slicing();
    rig.ask(pendingOf('g'));
    expect(rig.send({ kind: 'cancelled', reservation: reservation('g') })).toEqual([]);
    expect(rig.send({ kind: 'cancelled', reservation: reservation('a') })).toEqual([{ kind: 'schedule' }]);
    const effects = rig.send({ kind: 'due' });
    expect([...writtenState(effects).reservations.keys()]).toEqual(['b', 'c', 'd', 'e', 'f']);
  });

  test('is renewed after half of its life, and given back when the process ends', () => {
    const rig = slicing();
    rig.ask(pendingOf('g'));
    expect(kindsOf(rig.send({ kind: 'observed' }))).not.toContain('write');
    rig.at(5_000);
    const renewal = rig.observe();
    expect(kindsOf(renewal)).toContain('write');
    expect(writtenState(renewal).slices.get(HOLDER)?.renewals).toBeGreaterThan(1);
    store(rig, renewal, '4');
    const closing = rig.send({ kind: 'closed' });
    expect(writtenState(closing).slices.size).toBe(0);
    expect([...writtenState(closing).reservations.keys()]).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  test('is not spent by a namespace in debt', () => {
    const rig = slicing();
    rig.replica.waste = { missed: new Map(), debts: new Map([['a', { share: 0.1, at: 0 }]]) };
    expect(print(rig.ask(pendingOf('g')))).toEqual(['schedule']);
    const other = { ...pendingOf('h'), reservation: reservation('h', '1Gi', { namespace: 'b' }) };
    expect(print(rig.ask(other))).toEqual(['answer h reserved', 'charged slice']);
  });
});

describe('what is wasted', () => {
  test.each([
    ['a reservation', true],
    ['a pod that has appeared', false],
  ])('is noted of %s ten seconds after a count without its pod', (_, isMissed) => {
    const rig = createReplicaRig();
    const state = stateOf('500Gi', [reservation('x', '500Gi')]);
    rig.tick();
    rig.read(versionOf({ state }));
    if (!isMissed) rig.pods = [{ uid: 'x', namespace: 'a', amounts: amountsOf({ memory: '500Gi' }) }];
    rig.provenAt = 10_000;
    rig.at(10_000).tick();
    rig.read(versionOf({ state }));
    expect([...rig.replica.waste.debts.keys()]).toEqual(isMissed ? ['a'] : []);
  });
});
