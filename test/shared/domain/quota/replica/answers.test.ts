import { describe, expect, test } from 'vitest';
import type { LedgerVersion, PendingReservation } from '#shared/domain/quota/replica/apply-batch.ts';
import { amountsOf } from '#test/build/cluster.ts';
import {
  createReplicaRig,
  kindsOf,
  pendingOf,
  print,
  type ReplicaRig,
  request,
  reservation,
  sliceOf,
  stateOf,
  store,
  versionOf,
  writtenState,
} from './replica-rig.ts';

/** A replica that knows this version since it was read. */
function knowing(version: LedgerVersion): ReplicaRig {
  const rig = createReplicaRig();
  rig.tick();
  rig.read(version);
  return rig;
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

  test('leaves the ledger known, unless something has to be decided again', () => {
    const rig = knowing(versionOf());
    for (const uid of ['dry-1', 'dry-2']) {
      const pending = pendingOf(uid, '1Gi', { isDryRun: true });
      expect(print(request(rig, pending))).toEqual([`answer ${uid} reserved`]);
    }
  });

  test('waits where limits have not been counted and the pods are not known', () => {
    const rig = createReplicaRig();
    rig.isFilled = false;
    rig.ask(pendingOf('a'));
    rig.tick();
    expect(print(rig.read(versionOf({ isCounted: false })))).toEqual(['recounted failed']);
    expect(rig.at(1).tick()).toEqual([]);
    rig.isFilled = true;
    expect(rig.at(999).tick()).toEqual([]);
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

  test('keeps a reservation whose pod was seen, from the time on at which it is missed', () => {
    const rig = createReplicaRig();
    const version = versionOf({ state: stateOf('1Gi', [reservation('x')]) });
    rig.pods = [{ uid: 'x', namespace: 'a', amounts: amountsOf({ memory: '1Gi' }) }];
    rig.tick();
    expect(kindsOf(rig.read(version))).toEqual(['write']);
    rig.pods = [];
    rig.at(100_000).send({ kind: 'wrote', result: { kind: 'conflict' } });
    rig.send({ kind: 'pauseEnded' });
    expect(print(rig.read(version))).toEqual(['recounted done']);
    const recountAt = (ms: number) => {
      rig.provenAt = ms;
      rig.at(ms).tick();
      return print(rig.read(version));
    };
    expect([120_000, 219_999, 220_000].map(recountAt)).toEqual([['recounted done'], ['recounted done'], ['write']]);
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
