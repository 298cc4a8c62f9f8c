import { describe, expect, test } from 'vitest';
import type { LedgerEffect } from '#shared/domain/quota/replica/event.ts';
import { narrowed, widened } from '#shared/domain/quota/replica/replica.ts';
import {
  answersIn,
  createReplicaRig,
  kindsOf,
  pendingOf,
  type ReplicaRig,
  reservation,
  stateOf,
  versionOf,
  writing,
  writtenUids,
} from './replica-rig.ts';

const REFUSED = { kind: 'refused', message: 'too long' } as const;

describe('a write that is refused for good', () => {
  /** Answers each write like an API server that refuses every state with one of these UIDs. */
  function runWith(rig: ReplicaRig, bad: ReadonlySet<string>) {
    const sizes: number[] = [];
    const answers: string[] = [];
    let recounts = 0;
    let stored = stateOf('0');
    let revision = 1;
    let effects: readonly LedgerEffect[] = rig.send({ kind: 'wrote', result: REFUSED });
    for (let turn = 0; turn < 100 && effects.length > 0; turn += 1) {
      answers.push(...answersIn(effects));
      recounts += effects.filter(({ kind }) => kind === 'recounted').length;
      const next = effects.find(({ kind }) => ['read', 'write', 'pause', 'schedule'].includes(kind));
      if (next === undefined) break;
      if (next.kind === 'read') effects = rig.read(versionOf({ state: stored, revision: String(revision) }));
      else if (next.kind === 'write') {
        const { state } = next.write;
        sizes.push(state.reservations.size - stored.reservations.size);
        const isBad = [...state.reservations.keys()].some((uid) => bad.has(uid));
        if (!isBad) {
          stored = state;
          revision += 1;
        }
        const version = versionOf({ state: stored, revision: String(revision) });
        effects = rig.send({ kind: 'wrote', result: isBad ? REFUSED : { kind: 'written', version } });
      } else effects = rig.send({ kind: next.kind === 'pause' ? 'pauseEnded' : 'due' });
    }
    return { sizes, answers, recounts, stored: [...stored.reservations.keys()] };
  }

  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

  test.each(names)('is halved until %s is alone, and grows again; no other reservation fails', (bad) => {
    const { sizes, answers, stored } = runWith(writing(names), new Set([bad]));
    expect(answers.toSorted()).toEqual(names.map((uid) => `${uid} ${uid === bad ? 'busy' : 'reserved'}`));
    expect(stored).toEqual(names.filter((uid) => uid !== bad));
    expect(sizes[0]).toBe(4);
    expect(sizes.length).toBeLessThan(12);
  });

  test('is followed by half of it, and after each success by twice as much', () => {
    const { sizes, recounts } = runWith(writing(names), new Set(['a']));
    expect({ sizes, recounts }).toEqual({ sizes: [4, 2, 1, 2, 4, 1], recounts: 0 });
  });

  test('of one reservation alone, is tried once more without anything else in it', () => {
    const { sizes, answers } = runWith(writing(['a']), new Set(['a']));
    expect({ sizes, answers }).toEqual({ sizes: [1], answers: ['a busy'] });
  });

  test('without any reservation, pauses, and counts as counted if there was a count', () => {
    const rig = createReplicaRig();
    rig.pods = [{ uid: 'p', namespace: 'a', amounts: reservation('p').amounts }];
    rig.tick();
    rig.read(versionOf());
    expect(rig.send({ kind: 'wrote', result: REFUSED })).toEqual([{ kind: 'pause', failures: 1 }]);
    expect([rig.replica.hasCounted, rig.replica.mostInBatch]).toEqual([true, 1_000]);
  });

  test('leaves what else was due for when the reservations are through', () => {
    const rig = createReplicaRig();
    const state = stateOf('1Gi', [reservation('old')]);
    rig.ask(pendingOf('a'));
    rig.send({ kind: 'cancelled', reservation: reservation('old') });
    rig.send({ kind: 'due' });
    expect(writtenUids(rig.read(versionOf({ state })))).toEqual(['a']);
    expect(rig.send({ kind: 'wrote', result: REFUSED })).toEqual([{ kind: 'read' }]);
    const alone = rig.read(versionOf({ state }));
    expect(writtenUids(alone)).toEqual(['old', 'a']);
    // Nothing was counted for it, so it says nothing of what a count held.
    expect(alone).toMatchObject([{ write: { counted: undefined } }]);
    const refused = rig.send({ kind: 'wrote', result: REFUSED });
    expect(answersIn(refused)).toEqual(['a busy']);
    expect(kindsOf(refused)).toEqual(['answer', 'read']);
    const effects = rig.read(versionOf({ state }));
    expect(effects).toMatchObject([{ kind: 'write' }]);
    expect(writtenUids(effects)).toEqual([]);
  });

  test('under limits that are not counted, is a count alone first', () => {
    const rig = createReplicaRig();
    const uncounted = versionOf({ isCounted: false });
    for (const uid of ['a', 'b']) rig.ask(pendingOf(uid));
    rig.send({ kind: 'due' });
    expect(writtenUids(rig.read(uncounted))).toEqual(['a', 'b']);
    expect(rig.send({ kind: 'wrote', result: REFUSED })).toEqual([{ kind: 'read' }]);
    const effects = rig.read(uncounted);
    expect(effects).toMatchObject([{ kind: 'write', write: { counted: { pods: 7, namespaces: 7 } } }]);
    expect(writtenUids(effects)).toEqual([]);
    const next = rig.send({ kind: 'wrote', result: { kind: 'written', version: versionOf({ revision: '2' }) } });
    expect(writtenUids(next).length).toBeGreaterThan(0);
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [1_000, 500],
  ])('of %s reservations is followed by one of %s', (pending, next) => {
    expect(narrowed(pending)).toBe(next);
  });

  test.each([
    [1, 2],
    [499, 998],
    [501, 1_000],
    [1_000, 1_000],
  ])('after a success of at most %s the next may have %s', (most, next) => {
    expect(widened(most)).toBe(next);
  });
});
