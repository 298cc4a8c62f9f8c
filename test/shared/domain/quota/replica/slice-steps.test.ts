import { describe, expect, test } from 'vitest';
import { printAmounts } from '#test/conformance/print-amounts.ts';
import {
  createReplicaRig,
  HOLDER,
  kindsOf,
  pendingOf,
  print,
  type ReplicaRig,
  request,
  reservation,
  sliceOf,
  store,
  versionOf,
  writtenState,
} from './replica-rig.ts';

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

  test('is not wanted for what was refused, or asked for in a dry run', () => {
    const rig = createReplicaRig();
    for (const uid of ['a', 'b', 'c', 'd']) rig.ask(pendingOf(uid, '2000Gi'));
    for (const uid of ['e', 'f', 'g', 'h']) rig.ask(pendingOf(uid, '1Gi', { isDryRun: true }));
    rig.send({ kind: 'due' });
    expect(rig.read(versionOf())).toHaveLength(8);
    expect(writtenState(request(rig, pendingOf('i'))).slices.size).toBe(0);
  });

  test('is written again after a write that was refused', () => {
    const rig = slicing();
    for (const uid of ['g', 'h', 'i', 'j', 'k']) rig.ask(pendingOf(uid));
    const refused = rig.send({ kind: 'due' });
    const state = writtenState(refused);
    rig.send({ kind: 'wrote', result: { kind: 'refused', message: 'too large' } });
    rig.send({ kind: 'pauseEnded' });
    rig.send({ kind: 'cancelled', reservation: reservation('a') });
    rig.send({ kind: 'due' });
    const slices = new Map([[HOLDER, sliceOf(HOLDER, '10Gi', { renewals: 1 })]]);
    const again = writtenState(rig.read(versionOf({ revision: '3', state: { ...state, slices } })));
    expect(again.slices.get(HOLDER)?.renewals).toBe(3);
  });

  test('is spent again as soon as a conflict says that giving it back had no effect', () => {
    const rig = slicing();
    expect(kindsOf(rig.send({ kind: 'closed' }))).toContain('write');
    expect(print(rig.ask(pendingOf('g')))).toEqual([]);
    rig.send({ kind: 'wrote', result: { kind: 'conflict' } });
    expect(print(rig.ask(pendingOf('h')))).toEqual(['answer h reserved', 'charged slice']);
  });
});
