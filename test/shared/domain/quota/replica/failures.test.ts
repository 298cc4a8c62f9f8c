import { describe, expect, test } from 'vitest';
import type { LedgerPart, LedgerWritten } from '#shared/domain/quota/replica/event.ts';
import {
  answersIn,
  createReplicaRig,
  kindsOf,
  pendingOf,
  reservation,
  stateOf,
  versionOf,
  writing,
  writtenUids,
} from './replica-rig.ts';

const TROUBLE = { kind: 'trouble', message: 'no answer' } as const;

describe('a read without an answer', () => {
  test('fails the count that was due, and the pauses grow until a write succeeds', () => {
    const rig = createReplicaRig();
    rig.tick();
    const failed = { kind: 'recounted', result: 'failed' };
    expect(rig.send({ kind: 'read', result: TROUBLE })).toEqual([failed, { kind: 'pause', failures: 1 }]);
    expect(rig.ask(pendingOf('a'))).toEqual([]);
    expect(rig.send({ kind: 'pauseEnded' })).toEqual([{ kind: 'read' }]);
    expect(rig.send({ kind: 'read', result: TROUBLE })).toEqual([failed, { kind: 'pause', failures: 2 }]);
    rig.send({ kind: 'pauseEnded' });
    expect(kindsOf(rig.read(versionOf()))).toEqual(['write']);
    rig.send({ kind: 'wrote', result: { kind: 'written', version: versionOf({ revision: '2' }) } });
    expect(rig.replica.failures).toBe(0);
  });

  test('drops cancellations, which at worst leaves room taken until the reservation expires', () => {
    const rig = createReplicaRig();
    expect(rig.send({ kind: 'cancelled', reservation: reservation('a') })).toEqual([{ kind: 'schedule' }]);
    expect(rig.send({ kind: 'cancelled', reservation: reservation('b') })).toEqual([]);
    expect(rig.send({ kind: 'due' })).toEqual([{ kind: 'read' }]);
    expect(rig.send({ kind: 'read', result: TROUBLE })).toEqual([{ kind: 'pause', failures: 1 }]);
    expect(rig.send({ kind: 'pauseEnded' })).toEqual([]);
  });
});

test('a quota that is gone answers everything, and nothing is due any more', () => {
  const rig = createReplicaRig();
  rig.tick();
  rig.isFilled = false;
  rig.ask(pendingOf('deferred', '2000Gi'));
  rig.read(versionOf());
  rig.ask(pendingOf('queued', '2000Gi'));
  rig.send({ kind: 'cancelled', reservation: reservation('x') });
  expect(rig.send({ kind: 'due' })).toEqual([{ kind: 'read' }]);
  const effects = rig.send({ kind: 'read', result: { kind: 'gone' } });
  expect(answersIn(effects)).toEqual(['deferred gone', 'queued gone']);
  expect(rig.send({ kind: 'due' })).toEqual([]);
  expect(rig.at(1_001).tick()).toEqual([]);
});

test('a quota that is gone needs no count', () => {
  const rig = createReplicaRig();
  expect(rig.tick()).toEqual([{ kind: 'read' }]);
  expect(rig.send({ kind: 'read', result: { kind: 'gone' } })).toEqual([]);
  expect(rig.at(1).tick()).toEqual([]);
});

describe('a write that is not stored', () => {
  test.each<[string, LedgerWritten]>([
    ['for a conflict', { kind: 'conflict' }],
    ['as far as is known', TROUBLE],
  ])('%s, is made again over what is read after a pause', (_, result) => {
    const rig = writing(['a', 'b']);
    expect(rig.send({ kind: 'wrote', result })).toEqual([{ kind: 'pause', failures: 1 }]);
    expect(rig.send({ kind: 'pauseEnded' })).toEqual([{ kind: 'read' }]);
    const effects = rig.read(versionOf({ revision: '2', state: stateOf('1Gi', [reservation('other')]) }));
    expect(writtenUids(effects)).toEqual(['other', 'a', 'b']);
  });

  test.each<[string, LedgerWritten, readonly string[]]>([
    ['keeps cancellations after a conflict', { kind: 'conflict' }, ['b']],
    ['drops them where its fate is unknown', TROUBLE, ['a', 'b']],
  ])('%s', (_, result, left) => {
    const rig = createReplicaRig();
    const state = stateOf('2Gi', [reservation('a'), reservation('b')]);
    rig.send({ kind: 'cancelled', reservation: reservation('a') });
    rig.send({ kind: 'due' });
    expect(writtenUids(rig.read(versionOf({ state })))).toEqual(['b']);
    rig.send({ kind: 'wrote', result });
    rig.ask(pendingOf('c', '1Gi', { isDryRun: true }));
    rig.send({ kind: 'pauseEnded' });
    const effects = rig.read(versionOf({ state, revision: '2' }));
    expect(effects.some(({ kind }) => kind === 'write') ? writtenUids(effects) : ['a', 'b']).toEqual(left);
  });

  test('leaves a count due after a conflict', () => {
    const rig = createReplicaRig();
    rig.pods = [{ uid: 'p', namespace: 'a', amounts: reservation('p').amounts }];
    rig.tick();
    expect(kindsOf(rig.read(versionOf()))).toEqual(['write']);
    expect(kindsOf(rig.send({ kind: 'wrote', result: { kind: 'conflict' } }))).toEqual(['pause']);
    expect(kindsOf(rig.send({ kind: 'pauseEnded' }))).toEqual(['read']);
    expect(kindsOf(rig.read(versionOf({ revision: '2' })))).toEqual(['write']);
    const version = versionOf({ revision: '3', state: stateOf('1Gi'), recounts: 1 });
    const effects = rig.send({ kind: 'wrote', result: { kind: 'written', version } });
    expect(effects).toEqual([{ kind: 'recounted', result: 'done' }]);
  });
});

describe('a write that was pruned', () => {
  function pruned(lost: readonly LedgerPart[]) {
    const rig = writing(['a', 'b']);
    const version = versionOf({ revision: '2' });
    return { rig, effects: rig.send({ kind: 'wrote', result: { kind: 'pruned', version, lost } }) };
  }

  test('of its slices alone, is made again from what was stored', () => {
    const { rig, effects } = pruned(['slices']);
    expect(effects).toEqual([{ kind: 'pause', failures: 1 }]);
    const again = rig.send({ kind: 'pauseEnded' });
    expect(writtenUids(again)).toEqual(['a', 'b']);
    expect(again).toMatchObject([{ write: { base: { revision: '2' } } }]);
  });

  test.each<[readonly LedgerPart[], string]>([
    [['used'], 'status.used'],
    [['slices', 'recounts'], 'status.slices, status.recounts'],
  ])('of %j, answers that nothing can be charged', (lost, fields) => {
    const { rig, effects } = pruned(lost);
    expect(answersIn(effects)).toEqual(['a busy', 'b busy']);
    const why = `the CustomResourceDefinition of PriorityQuotas lacks ${fields}`;
    expect(effects[0]).toMatchObject({ result: { why } });
    expect(kindsOf(effects).at(-1)).toBe('pause');
    expect(rig.send({ kind: 'pauseEnded' })).toEqual([]);
  });

  test.each([
    [true, true],
    [false, false],
  ])('counts as counted where all pods were known: %s', (isFilled, hasCounted) => {
    const rig = createReplicaRig();
    rig.isFilled = isFilled;
    rig.ask(pendingOf('a'));
    rig.send({ kind: 'due' });
    rig.read(versionOf());
    rig.send({ kind: 'wrote', result: { kind: 'pruned', version: versionOf({ revision: '2' }), lost: ['slices'] } });
    expect(rig.replica.hasCounted).toBe(hasCounted);
  });
});

describe('an answer that comes too late', () => {
  test('cancels the reservation', () => {
    const rig = createReplicaRig();
    rig.ask(pendingOf('a', '1Gi', { giveUpAt: 100 }));
    rig.send({ kind: 'due' });
    const effects = rig.read(versionOf());
    const [write] = effects.flatMap((each) => (each.kind === 'write' ? [each.write] : []));
    expect(answersIn(rig.at(100).tick())).toEqual(['a busy']);
    const version = versionOf({ revision: '2', state: write?.state ?? stateOf('0') });
    const after = rig.send({ kind: 'wrote', result: { kind: 'written', version } });
    expect(kindsOf(after)).toEqual(['charged', 'write']);
    expect(writtenUids(after)).toEqual([]);
  });

  test('cancels nothing where it was a dry run', () => {
    const rig = createReplicaRig();
    const state = stateOf('1Gi', [reservation('a')]);
    rig.ask(pendingOf('a', '1Gi', { isDryRun: true, giveUpAt: 100 }));
    rig.ask(pendingOf('b'));
    rig.send({ kind: 'due' });
    const [write] = rig.read(versionOf({ state })).flatMap((each) => (each.kind === 'write' ? [each.write] : []));
    rig.now = { monotonic: 100, wall: 100 };
    expect(answersIn(rig.observe())).toEqual(['a busy']);
    const version = versionOf({ revision: '2', state: write?.state ?? state });
    const after = rig.send({ kind: 'wrote', result: { kind: 'written', version } });
    expect(answersIn(after)).toEqual(['b reserved']);
    expect(kindsOf(after)).not.toContain('write');
    expect(rig.replica.cancelled).toEqual([]);
  });

  test('is no answer to events that nothing waits for', () => {
    const rig = createReplicaRig();
    expect(rig.send({ kind: 'wrote', result: { kind: 'conflict' } })).toEqual([]);
    expect(rig.send({ kind: 'due' })).toEqual([]);
  });
});
