import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  childName,
  type ChildOf,
  type ChildrenQuestion,
  decideChildren,
  EMPTY_MS,
  MAX_CHILDREN,
} from '#shared/domain/queue/child-queues.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { cpu, queue } from './builders.ts';

const NOW = 10 * EMPTY_MS;
const of = (namespace: string, parent = 'teams'): ChildOf => ({ parent, namespace });
const many = (count: number): readonly ChildOf[] => Array.from({ length: count }, (_, index) => of(`ns-${index}`));

function decide(queues: readonly Queue[], question: Partial<ChildrenQuestion>) {
  const nothing = { wanted: [], created: [], made: [], occupied: new Set<string>(), now: NOW };
  const { create, remove } = decideChildren({ tree: createQueueTree(queues), ...nothing, ...question });
  const names = create.map((child) => `${childName(child)}${child.isGuaranteed ? '' : ' without guarantee'}`);
  return [...names, ...remove.map((name) => `remove ${name}`)];
}

/** Queue `teams` is promised so much, and each queue below it so much of that. */
function teams(guaranteed: number, ofEach: number): Queue {
  return queue('teams', undefined, { guaranteed: cpu(guaranteed), childTemplate: { guaranteed: cpu(ofEach) } });
}

describe('which queues are made from a template', () => {
  const child = (name: string, guaranteed = 0): Queue =>
    queue(`teams.${name}`, 'teams', { guaranteed: cpu(guaranteed) });
  test.each<[string, readonly Queue[], Partial<ChildrenQuestion>, readonly string[]]>([
    ['one for a namespace', [teams(4, 2)], { wanted: [of('a')] }, ['teams.a']],
    ['none where no template is', [queue('teams')], { wanted: [of('a')] }, []],
    ['none where the queue does not exist', [], { wanted: [of('a')] }, []],
    ['none that is there', [teams(4, 2), child('a')], { wanted: [of('a')] }, []],
    ['none whose name another queue has', [teams(4, 2), queue('teams.a')], { wanted: [of('a')] }, []],
    [
      'none that was created and is not seen yet',
      [teams(4, 2)],
      { wanted: [of('a'), of('b')], created: [{ ...of('a'), isGuaranteed: true }] },
      ['teams.b'],
    ],
    [
      'without a guarantee where that of the parent is used up',
      [teams(5, 2), child('x', 2)],
      { wanted: [of('a'), of('b')] },
      ['teams.a', 'teams.b without guarantee'],
    ],
    [
      'without a guarantee where one that is not seen yet has the last',
      [teams(2, 2)],
      { wanted: [of('b')], created: [{ ...of('a'), isGuaranteed: true }] },
      ['teams.b without guarantee'],
    ],
    [
      'without a guarantee where the parent has none in that type',
      [queue('teams', undefined, { childTemplate: { guaranteed: cpu(1) } })],
      { wanted: [of('a')] },
      ['teams.a without guarantee'],
    ],
  ])('%s', (_, queues, question, expected) => {
    expect(decide(queues, question)).toEqual(expected);
  });

  test('no more than 500 below one queue, and each queue has its own 500', () => {
    const others = [teams(0, 0), queue('more', undefined, { childTemplate: { guaranteed: cpu(0) } })];
    const wanted = [...many(MAX_CHILDREN + 20), of('a', 'more')];
    expect(decide(others, { wanted })).toHaveLength(MAX_CHILDREN + 1);
    const full = [...others, ...many(MAX_CHILDREN - 1).map((each) => queue(childName(each), 'teams'))];
    expect(decide(full, { wanted })).toEqual([`teams.ns-${MAX_CHILDREN - 1}`, 'more.a']);
    const created = [{ ...of('x'), isGuaranteed: false }];
    expect(decide(full, { wanted, created })).toEqual(['more.a']);
  });

  const made = (emptySince: number | undefined) => [{ name: 'teams.a', emptySince }];
  test.each<[string, Partial<ChildrenQuestion>, readonly string[]]>([
    ['removed when empty for an hour', { made: made(NOW - EMPTY_MS) }, ['remove teams.a']],
    ['kept a moment before', { made: made(NOW - EMPTY_MS + 1) }, []],
    ['kept where nothing says since when', { made: made(undefined) }, []],
    ['kept where a pod stands in it now', { made: made(0), occupied: new Set(['teams.a']) }, []],
    ['kept if no template made it', { made: [] }, []],
  ])('a queue is %s', (_, question, expected) => {
    expect(decide([teams(4, 2), child('a')], question)).toEqual(expected);
  });

  test('a queue below which a person has put others is kept', () => {
    expect(decide([teams(4, 2), child('a'), queue('below', 'teams.a')], { made: made(0) })).toEqual([]);
  });

  test('for any wishes in any order: at most 500, none twice, and no more guaranteed than the parent has', () => {
    const wish = fc.record({
      parent: fc.constantFrom('teams', 'other', 'none'),
      namespace: fc.stringMatching(/^[a-z]{1,2}$/),
    });
    const rounds = fc.array(fc.uniqueArray(wish, { maxLength: 200, selector: childName }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.nat(40), fc.nat(5), rounds, (guaranteed, ofEach, all) => {
        let queues: readonly Queue[] = [teams(guaranteed, ofEach), { ...teams(1, 1), name: 'other' }, queue('none')];
        for (const wanted of all) {
          const { create } = decideChildren({
            tree: createQueueTree(queues),
            wanted,
            created: [],
            made: [],
            occupied: new Set(),
            now: NOW,
          });
          queues = [
            ...queues,
            ...create.map((each) => {
              const amount = each.isGuaranteed ? (each.parent === 'teams' ? ofEach : 1) : 0;
              return queue(childName(each), each.parent, { guaranteed: cpu(amount) });
            }),
          ];
        }
        for (const { name, guaranteed: promised, childTemplate } of queues.slice(0, 3)) {
          const below = queues.filter(({ parent }) => parent === name);
          const sum = below.reduce((total, each) => total + Number(each.guaranteed.get('cpu') ?? 0), 0);
          expect(below.length).toBeLessThanOrEqual(childTemplate === undefined ? 0 : MAX_CHILDREN);
          expect(sum).toBeLessThanOrEqual(Number(promised.get('cpu') ?? 0));
        }
        expect(new Set(queues.map(({ name }) => name)).size).toBe(queues.length);
      }),
      { seed: 34, numRuns: 200 },
    );
  });
});
