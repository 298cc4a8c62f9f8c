import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '#shared/domain/disruption/cause.ts';
import { disruptionOf } from '#shared/domain/disruption/removal.ts';
import { type DueWrite, Removals } from '#shared/domain/disruption/removals.ts';
import {
  DELETED,
  due,
  dueWrites,
  EVICTED,
  MANY,
  MINUTE,
  OWNER,
  PREEMPTED,
  SECOND,
  seen,
  writeAll,
} from './seen-removals.ts';

describe('a storm', () => {
  /** Pods of one owner, one each millisecond from a time. */
  const storm = (removals: Removals, from: number, count: number, evidence: Evidence = EVICTED): void => {
    for (let at = from; at < from + count; at += 1)
      removals.begin(seen({ name: `web-${at}`, owned: true }, evidence, at));
  };
  const countOf = (removals: Removals, uid: string): number | undefined =>
    dueWrites(removals, 2 * MANY).find((each) => each.uid === uid)?.removal.outcome.count;

  test('goes on where what is over was forgotten meanwhile, and ends after a minute', () => {
    const removals = new Removals();
    storm(removals, 0, 22);
    removals.prune(SECOND);
    storm(removals, SECOND, 1);
    expect([removals.has('uid-web-1000'), countOf(removals, 'uid-web-20')]).toEqual([false, 3]);
    removals.prune(61 * SECOND);
    storm(removals, 61 * SECOND, 22);
    expect([removals.has('uid-web-61000'), countOf(removals, 'uid-web-61020')]).toEqual([true, 2]);
    expect(countOf(removals, 'uid-web-20')).toBe(3);
  });

  test('is gone when the last of its pods was, and not yet where another one joins it', () => {
    const removals = new Removals();
    storm(removals, 0, 23);
    const goneAt = (): unknown =>
      dueWrites(removals, MANY).find(({ uid }) => uid === 'uid-web-20')?.removal.outcome.goneAt;
    removals.gone('uid-web-20', 500);
    removals.gone('uid-web-22', 700);
    expect(goneAt()).toBe(700);
    storm(removals, 800, 1);
    expect(goneAt()).toBeUndefined();
  });

  test('names its pods once none joins it any more, before it is known what became of them', () => {
    const removals = new Removals();
    storm(removals, 0, 23);
    writeAll(removals, MINUTE / 6);
    expect(due(removals, 21 + 10 * SECOND)).toEqual([]);
    expect(removals.unrecordedSince()).toBe(20);
    const [named] = writeAll(removals, 22 + 10 * SECOND);
    expect([named?.write, named?.removal.outcome]).toMatchObject([
      'others',
      { count: 3, others: ['web-21', 'web-22'].map((pod) => ({ pod, podUid: `uid-${pod}` })) },
    ]);
    expect([removals.unrecordedSince(), due(removals, MINUTE)]).toEqual([undefined, []]);
  });

  test('a pod that is seen to terminate again, and then to be gone, joins it once', () => {
    const removals = new Removals();
    storm(removals, 0, 23);
    storm(removals, 21, 2);
    expect(countOf(removals, 'uid-web-20')).toBe(3);
  });

  test('names at most a hundred other pods; the next one begins another record', () => {
    const removals = new Removals();
    storm(removals, 0, 123);
    writeAll(removals, 6 * SECOND);
    expect(removals.has('uid-web-121')).toBe(true);
    const named = writeAll(removals, 6 * SECOND);
    expect(named.map(({ uid, removal }) => [uid, removal.outcome.others.length])).toEqual([['uid-web-20', 100]]);
  });

  test('of another cause is another record', () => {
    const removals = new Removals();
    storm(removals, 0, 25, DELETED);
    storm(removals, 25, 2, PREEMPTED);
    const of = (uid: string) => writeAll(removals, 6 * SECOND).find((each) => each.uid === uid)?.removal;
    const preempted = of('uid-web-25');
    expect(preempted && disruptionOf(preempted)).toMatchObject({ spec: { cause: 'Preemption' } });
  });

  test('is not joined once its record has ended', () => {
    const removals = new Removals();
    storm(removals, 0, 22);
    writeAll(removals, 5 * SECOND + 21);
    removals.gone('uid-web-20', 6 * SECOND);
    for (let place = 0; place < 21; place += 1)
      removals.place({ uid: `new-${place}`, name: `new-${place}`, node: 'node-1', owner: OWNER.uid });
    expect(writeAll(removals, 6 * SECOND).map(({ uid, write }) => `${write} ${uid}`)).toContain('outcome uid-web-20');
    storm(removals, 6 * SECOND, 1);
    expect(removals.has('uid-web-6000')).toBe(true);
  });

  test('that another pod joins while its outcome is written is followed on', () => {
    const removals = new Removals();
    storm(removals, 0, 22);
    writeAll(removals, 6 * SECOND);
    const [outcome] = dueWrites(removals, 2 * MANY).filter(({ uid }) => uid === 'uid-web-20');
    storm(removals, 30, 1);
    removals.written('uid-web-20', 'outcome', outcome?.removal.outcome.others.length);
    expect(countOf(removals, 'uid-web-20')).toBe(3);
  });

  test('of a Node, which owns pods of several namespaces, names those of the own namespace only', () => {
    const removals = new Removals();
    for (let at = 0; at < 60; at += 1)
      removals.begin(seen({ name: `p${at}`, namespace: at % 2 === 0 ? 'left' : 'right', owned: true }, DELETED, at));
    const leads = dueWrites(removals, MANY).filter(({ removal }) => removal.outcome.count > 1);
    expect(leads.map(({ removal }) => [removal.pod.namespace, removal.outcome.count])).toEqual([
      ['left', 10],
      ['right', 10],
    ]);
  });

  test('whatever is removed, seen again, gone and replaced: each pod is recorded or named exactly once', () => {
    const step = fc.record({
      waitMs: fc.oneof({ weight: 8, arbitrary: fc.nat(200) }, fc.nat(20 * SECOND)),
      kind: fc.constantFrom('begin', 'begin', 'begin', 'begin', 'again', 'gone', 'place', 'write'),
      evidence: fc.constantFrom(DELETED, DELETED, DELETED, EVICTED),
      pick: fc.nat(1_000),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 500 }), (steps) => {
        const [removals, stored] = [new Removals(), new Map<string, readonly string[]>()];
        const write = (at: number): void => store(writeAll(removals, at), stored);
        let [now, made] = [0, 0];
        for (const { waitMs, kind, evidence, pick } of steps) {
          now += waitMs;
          if (kind === 'begin') made += 1;
          const name = `p${kind === 'begin' ? made : 1 + (pick % made)}`;
          const actions: Readonly<Record<typeof kind, () => void>> = {
            begin: () => removals.begin(seen({ name, owned: true }, evidence, now)),
            again: () => removals.begin(seen({ name, owned: true }, DELETED, now)),
            gone: () => removals.gone(`uid-${name}`, now),
            place: () => removals.place({ uid: `new-${now}`, name: 'new', node: 'n', owner: OWNER.uid }),
            write: () => write(now),
          };
          if (made > 0) actions[kind]();
        }
        for (let pass = 1; pass <= 4; pass += 1) write(now + pass * MANY);
        const named = [...stored.values()].flat();
        expect(named.toSorted()).toEqual(Array.from({ length: made }, (_, pod) => `uid-p${pod + 1}`).toSorted());
      }),
      { seed: 20_261_126, numRuns: 60 },
    );
  });
});

/** What the API server has of each record: the pod of it, and the others that were written last. It is created once. */
function store(writes: readonly DueWrite[], stored: Map<string, readonly string[]>): void {
  for (const { uid, write, removal } of writes) {
    const others = write === 'record' ? undefined : removal.outcome.others.map(({ podUid }) => podUid);
    if (others !== undefined || !stored.has(uid)) stored.set(uid, [uid, ...(others ?? [])]);
  }
}
