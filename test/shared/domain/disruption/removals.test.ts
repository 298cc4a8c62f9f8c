import { describe, expect, test } from 'vitest';
import { disruptionOf, type NominatedPreemptor } from '#shared/domain/disruption/removal.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import {
  SECOND,
  MINUTE,
  PREEMPTED,
  EVICTED,
  DELETED,
  BECAUSE,
  seen,
  nominated,
  due,
  dueWrites,
  writeAll,
  recordOf,
} from './seen-removals.ts';

test('the record of a removed pod names the rule that gave its class (S3-9)', () => {
  const removals = new Removals();
  removals.begin({ ...seen({ name: 'web' }, DELETED, 0), classRule: 'tenants/jobs' });
  expect(recordOf(removals, MINUTE)?.spec.classRule).toBe('tenants/jobs');
});

describe('the record of a preemption', () => {
  test('names the only pod that was nominated to the node about then, once no other can follow (S0-24)', () => {
    const removals = new Removals();
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 0));
    removals.nominate(nominated('waiting', 20));
    expect(due(removals, 4 * SECOND)).toEqual([]);
    expect(recordOf(removals, 5 * SECOND)?.spec).toMatchObject({
      cause: 'Preemption',
      removedAt: 0,
      madeRoomFor: { pod: 'waiting', nominatedNode: 'node-1' },
    });
  });

  test.each<readonly [string, readonly NominatedPreemptor[], string | undefined]>([
    ['one of lower priority', [nominated('low', 0, { priority: 0 })], undefined],
    ['one on another node', [nominated('elsewhere', 0, { nominatedNode: 'node-2' })], undefined],
    ['one that uses the room later (S0-32)', [nominated('first', 0), nominated('later', 11 * SECOND)], 'first'],
    ['one that was nominated long before', [nominated('old', -11 * SECOND), nominated('new', 0)], 'new'],
    ['two about then, so it is not certain', [nominated('one', 0), nominated('two', 100)], undefined],
  ])('of several pods: %s', (_, pods, expected) => {
    const removals = new Removals();
    for (const pod of pods.filter(({ at }) => at <= 0)) removals.nominate(pod);
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 0));
    for (const pod of pods.filter(({ at }) => at > 0)) removals.nominate(pod);
    expect(recordOf(removals, 12 * SECOND)?.spec.madeRoomFor?.pod).toBe(expected);
  });

  test.each(['before', 'after'])('an Event of the scheduler that comes %s tells apart two pods', (when) => {
    const removals = new Removals();
    removals.nominate(nominated('one', 0));
    removals.nominate(nominated('two', 10));
    if (when === 'before') removals.namePreemptor('uid-victim', 'uid-one');
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 20));
    if (when === 'after') removals.namePreemptor('uid-victim', 'uid-one');
    expect(recordOf(removals, 20)?.spec.madeRoomFor?.pod).toBe('one');
  });

  test('a forged Event names no pod that was not nominated there', () => {
    const removals = new Removals();
    removals.nominate(nominated('one', 0));
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 0));
    removals.namePreemptor('uid-victim', 'uid-of-a-stranger');
    expect(due(removals, 0)).toEqual([]);
    expect(recordOf(removals, 5 * SECOND)?.spec.madeRoomFor?.pod).toBe('one');
  });

  test('shows the nominated node, and where the pod was placed in the end (S0-28)', () => {
    const removals = new Removals();
    removals.nominate(nominated('waiting', 0));
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 0));
    writeAll(removals, 5 * SECOND);
    removals.gone('uid-victim', 6 * SECOND);
    expect(due(removals, 7 * SECOND)).toEqual([]);
    removals.place({ uid: 'uid-waiting', name: 'waiting', node: 'node-2', owner: undefined });
    const [ended] = writeAll(removals, 7 * SECOND);
    expect(ended?.write).toBe('outcome');
    expect(ended && disruptionOf(ended.removal)).toMatchObject({
      spec: { madeRoomFor: { nominatedNode: 'node-1' } },
      outcome: { placedOn: 'node-2', goneAt: 6 * SECOND },
    });
  });

  test('knows a pod that was placed before it was known what it was nominated for', () => {
    const removals = new Removals();
    removals.nominate(nominated('waiting', 0));
    removals.begin(seen({ name: 'victim', priority: 0 }, PREEMPTED, 0));
    removals.place({ uid: 'uid-waiting', name: 'waiting', node: 'node-1', owner: undefined });
    expect(recordOf(removals, 5 * SECOND)?.outcome.placedOn).toBe('node-1');
  });
});

describe('the record of an eviction by an agent', () => {
  const report = {
    by: 'agent',
    uid: 'uid-hog',
    node: 'node-1',
    because: BECAUSE,
    ranked: [],
    decision: 'decision-1',
  } as const;

  test.each(['before', 'after'])('has its reason, whichever is seen first: the report %s the pod', (when) => {
    const removals = new Removals();
    if (when === 'before') removals.reportEviction(report);
    removals.begin(seen({ name: 'hog' }, EVICTED, 0));
    if (when === 'after') removals.reportEviction(report);
    expect(recordOf(removals, 0)?.spec).toMatchObject({ cause: 'Eviction', because: BECAUSE, decision: 'decision-1' });
  });

  test('believes the agent of its own node only', () => {
    const removals = new Removals();
    removals.reportEviction({ ...report, node: 'node-2' });
    removals.begin(seen({ name: 'hog' }, EVICTED, 0));
    expect(due(removals, 4 * SECOND)).toEqual([]);
    expect(recordOf(removals, 5 * SECOND)?.spec).toMatchObject({ cause: 'Unknown', requestedBy: undefined });
  });

  test.each(['before', 'after'])('waits for the answer that a busy agent reports late: asked %s the pod', (when) => {
    const removals = new Removals();
    if (when === 'before') removals.reportEviction({ ...report, isOpen: true });
    removals.begin(seen({ name: 'hog' }, EVICTED, 0));
    if (when === 'after') removals.reportEviction({ ...report, isOpen: true });
    expect(due(removals, 20 * SECOND)).toEqual([]);
    removals.reportEviction(report);
    expect(recordOf(removals, 20 * SECOND)?.spec).toMatchObject({ cause: 'Eviction', because: BECAUSE });
  });

  test('is of an unknown cause where an agent has asked and never says that it was answered', () => {
    const removals = new Removals();
    removals.reportEviction({ ...report, isOpen: true });
    removals.begin(seen({ name: 'hog' }, EVICTED, 0));
    expect(recordOf(removals, 30 * SECOND)?.spec).toMatchObject({ cause: 'Unknown' });
  });

  test('is a rescheduling where the rescheduler reports it, with its decision', () => {
    const removals = new Removals();
    removals.reportEviction({ ...report, by: 'rescheduler' });
    removals.begin(seen({ name: 'hog' }, EVICTED, 0));
    expect(recordOf(removals, 0)?.spec).toMatchObject({
      cause: 'Rescheduling',
      because: BECAUSE,
      decision: 'decision-1',
      requestedBy: 'plimsoll-rescheduling',
    });
  });

  test.each(['agent', 'rescheduler'] as const)(
    'makes room for nobody, whoever is nominated to the node: by the %s (S0-30)',
    (by) => {
      const removals = new Removals();
      removals.nominate(nominated('waiting', 0));
      removals.namePreemptor('uid-hog', 'uid-waiting');
      removals.reportEviction({ ...report, by });
      removals.begin(seen({ name: 'hog' }, EVICTED, 0));
      expect(recordOf(removals, 5 * SECOND)?.spec.madeRoomFor).toBeUndefined();
    },
  );
});

describe('what becomes of a removal', () => {
  test('the first pod of its owner that is placed afterwards replaces it, each pod one', () => {
    const removals = new Removals();
    for (const name of ['a', 'b']) removals.begin(seen({ name, owned: true }, DELETED, 0));
    writeAll(removals, 0);
    for (const uid of ['uid-a', 'uid-b']) removals.gone(uid, SECOND);
    removals.place({ uid: 'uid-c', name: 'c', node: 'node-2', owner: 'uid-web' });
    removals.place({ uid: 'uid-x', name: 'x', node: 'node-2', owner: 'uid-other' });
    const [ended, ...others] = writeAll(removals, SECOND);
    expect(others).toEqual([]);
    expect(ended?.removal).toMatchObject({ pod: { pod: 'a' }, outcome: { replacement: { pod: 'c', node: 'node-2' } } });
  });

  test('without a replacement it ends five minutes after the pod is gone, and an hour after it began where it never goes', () => {
    const removals = new Removals();
    removals.begin(seen({ name: 'gone', owned: true }, DELETED, 0));
    removals.begin(seen({ name: 'stuck' }, DELETED, 0));
    writeAll(removals, 0);
    removals.gone('uid-gone', MINUTE);
    expect(due(removals, 6 * MINUTE - 1)).toEqual([]);
    expect(writeAll(removals, 6 * MINUTE).map(({ uid }) => uid)).toEqual(['uid-gone']);
    expect(due(removals, 60 * MINUTE)).toEqual(['outcome uid-stuck']);
  });

  test('a pod that failed is gone at once, and is not begun again when its object is deleted', () => {
    const removals = new Removals();
    removals.begin(seen({ name: 'failed' }, { ...DELETED, isOomKilled: true }, 0), true);
    expect(recordOf(removals, 0)).toMatchObject({ spec: { cause: 'OOMKill' }, outcome: { goneAt: 0 } });
    removals.begin(seen({ name: 'failed' }, DELETED, SECOND));
    expect(recordOf(removals, SECOND)?.spec.cause).toBe('OOMKill');
  });

  test('the twenty-first removal of an owner within ten seconds and those after it are one record with a count', () => {
    const removals = new Removals();
    for (let at = 0; at < 100; at += 1) removals.begin(seen({ name: `web-${at}`, owned: true }, DELETED, at));
    const records = writeAll(removals, 100);
    expect(records.map(({ uid }) => uid)).toEqual(Array.from({ length: 21 }, (_, at) => `uid-web-${at}`));
    expect(records.at(-1)?.removal.outcome.count).toBe(80);
  });

  test('pods without an owner are one storm for each namespace', () => {
    const removals = new Removals();
    for (let at = 0; at < 100; at += 1) removals.begin(seen({ name: `bare-${at}`, namespace: 'noisy' }, DELETED, at));
    removals.begin(seen({ name: 'quiet', namespace: 'other' }, DELETED, 100));
    const records = writeAll(removals, 100);
    expect(records).toHaveLength(22);
    expect(records.find(({ uid }) => uid === 'uid-bare-20')?.removal.outcome.count).toBe(80);
  });

  test('a namespace with very many removals delays no other', () => {
    const removals = new Removals();
    for (let at = 0; at < 500; at += 1)
      removals.begin(seen({ name: `noisy-${at}`, namespace: 'noisy' }, DELETED, at * SECOND));
    for (const name of ['a', 'b']) removals.begin(seen({ name, namespace: 'quiet' }, DELETED, 500 * SECOND));
    const first = dueWrites(removals, 500 * SECOND, 10).map(({ uid }) => uid);
    expect(first).toHaveLength(10);
    expect(first).toEqual(expect.arrayContaining(['uid-a', 'uid-b', 'uid-noisy-0', 'uid-noisy-7']));
  });

  test('a replica that writes nothing forgets, but not what a new leader still has to write', () => {
    const removals = new Removals();
    removals.begin(seen({ name: 'a' }, DELETED, 0));
    removals.gone('uid-a', 0);
    removals.prune(6 * MINUTE);
    expect(due(removals, 6 * MINUTE)).toEqual(['record uid-a']);
    removals.prune(6 * MINUTE + 1);
    expect(removals.size).toBe(0);
  });

  test('at most 20,000 removals are followed, the latest', () => {
    const removals = new Removals();
    for (let at = 0; at < 20_010; at += 1) removals.begin(seen({ name: `p${at}` }, DELETED, at * SECOND));
    expect([removals.size, removals.has('uid-p9'), removals.has('uid-p10')]).toEqual([20_000, false, true]);
  });
});
