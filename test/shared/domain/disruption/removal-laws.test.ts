import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Evidence } from '#shared/domain/disruption/cause.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { SECOND, PREEMPTED, EVICTED, DELETED, BECAUSE, seen, nominated, writeAll, recordOf } from './seen-removals.ts';

type Happening =
  'PREEMPTED' | 'EVICTED' | 'DELETED' | 'gone' | 'report' | 'nominate' | 'name' | 'place' | 'write' | 'prune';

/** What can happen to a pod of six, at a time; `write` gives what was written. */
function happen(removals: Removals, kind: Happening, pod: number, now: number): readonly string[] {
  const [name, uid] = [`p${pod}`, `uid-p${pod}`];
  const begin = (evidence: Evidence) => removals.begin(seen({ name, owned: true }, evidence, now));
  const actions: Readonly<Record<Happening, () => unknown>> = {
    PREEMPTED: () => begin(PREEMPTED),
    EVICTED: () => begin(EVICTED),
    DELETED: () => begin(DELETED),
    gone: () => removals.gone(uid, now),
    report: () =>
      removals.reportEviction({ by: 'agent', uid, node: 'node-1', because: BECAUSE, ranked: [], decision: undefined }),
    nominate: () => removals.nominate(nominated('n', now)),
    name: () => removals.namePreemptor(uid, 'uid-n'),
    place: () => removals.place({ uid: 'uid-n', name: 'n', node: 'node-2', owner: 'uid-web' }),
    prune: () => removals.prune(now),
    write: () => writeAll(removals, now).map((each) => `${each.uid} ${each.write}`),
  };
  const done = actions[kind]();
  return Array.isArray(done) ? (done as readonly string[]) : [];
}

test('whatever happens in whichever order, each begin is followed by one record, then one outcome', () => {
  const kinds: readonly Happening[] = [
    'PREEMPTED',
    'EVICTED',
    'DELETED',
    'gone',
    'report',
    'nominate',
    'name',
    'place',
    'write',
    'prune',
  ];
  const event = fc.tuple(fc.constantFrom(...kinds), fc.nat(5), fc.nat(20 * SECOND));
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const removals = new Removals();
      const written: string[] = [];
      let now = 0;
      for (const [kind, pod, after] of events) written.push(...happen(removals, kind, pod, (now += after)));
      for (const [uid, ofPod] of Map.groupBy(written, (each) => each.split(' ')[0])) {
        const turns = ofPod.map((_, at) => `${uid} ${at % 2 === 0 ? 'record' : 'outcome'}`);
        expect(ofPod).toEqual(turns);
      }
    }),
    { seed: 20_261_126 },
  );
});

test('a record names no pod of another namespace', () => {
  const name = fc.stringMatching(/^[a-z]{4,12}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 4, maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom(PREEMPTED, EVICTED),
      ([own = '', other = '', a = '', b = ''], isOwn, evidence) => {
        const removals = new Removals();
        const namespace = isOwn ? own : other;
        removals.reportEviction({
          by: 'agent',
          uid: `uid-${a}`,
          node: 'node-1',
          because: BECAUSE,
          ranked: [{ namespace, pod: b, priority: 1, code: 'Ranked' }],
          decision: undefined,
        });
        removals.nominate(nominated(b, 0, { namespace, uid: 'uid-of-preemptor' }));
        removals.begin(seen({ name: a, namespace: own, priority: 0 }, evidence, 0));
        const text = JSON.stringify(recordOf(removals, 5 * SECOND));
        expect([text.includes(`"${b}"`), text.includes(`"${other}"`)]).toEqual([isOwn, false]);
      },
    ),
    { seed: 20_261_126 },
  );
});
