import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type GangFacts, type GangMember, type GangWish, groupGangs } from '#shared/domain/gang/gang.ts';
import { tooLarge } from '#shared/domain/queue/gang-too-large.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { cpu, queue } from '#test/shared/domain/queue/builders.ts';

const PLAIN: GangFacts = { minOf: () => undefined, succeeded: () => 0 };

const wish = (size: number | undefined, change: Partial<GangWish> = {}): GangWish => ({
  name: 'train',
  size,
  min: undefined,
  ...change,
});

function member(name: string, gang: GangWish, change: Partial<GangMember> = {}): GangMember {
  return { uid: name, name: `shop/${name}`, queue: 'q', gang, isIn: false, run: undefined, ...change };
}

const members = (count: number, gang: GangWish, change: Partial<GangMember> = {}, from = 0) =>
  Array.from({ length: count }, (_, index) => member(`pod-${from + index}`, gang, change));

const grouped = (all: readonly GangMember[], facts: Partial<GangFacts> = {}) => {
  const { gangs, refused } = groupGangs(all, { ...PLAIN, ...facts });
  return {
    gangs: gangs.map(({ key, queue: of, min, size, members: { length } }) => [key, of, min, size, length].join(' ')),
    refused: refused.map(({ members: { length }, because: { code, text } }) => [length, code, text]),
  };
};

describe('what is a gang', () => {
  test('pods of one namespace that name one gang; the size is the minimum unless they say another', () => {
    expect(grouped(members(3, wish(8)))).toEqual({ gangs: ['shop/train q 8 8 3'], refused: [] });
    expect(grouped(members(3, wish(8, { min: 6 })))).toEqual({ gangs: ['shop/train q 6 8 3'], refused: [] });
    expect(grouped(members(9, wish(undefined, { min: 2 })))).toEqual({ gangs: ['shop/train q 2 9 9'], refused: [] });
  });

  test('one name in two namespaces is two gangs', () => {
    const other = member('pod', wish(2), { name: 'bank/pod', queue: 'r' });
    expect(grouped([...members(2, wish(2)), other]).gangs).toEqual(['shop/train q 2 2 2', 'bank/train r 2 2 1']);
  });

  test('different sizes: none goes in, and each number is named with its pods', () => {
    expect(grouped([...members(7, wish(8)), ...members(1, wish(9), {}, 7)]).refused).toEqual([
      [8, 'GangSizesDiffer', 'the pods of gang shop/train name different sizes: 8 (7 of its pods), 9 (1 of its pods)'],
    ]);
    const many = Array.from({ length: 40 }, (_, index) => member(`pod-${index}`, wish(index + 1)));
    expect(grouped(many).refused[0]?.[2]).toMatch(/1 \(1 of its pods\), 10 .*, 11 .*, 37 more$/);
  });

  test('a pod that comes later with another size or in another queue takes nothing from a gang that is in', () => {
    const running = members(2, wish(2), { isIn: true });
    expect(grouped([...running, member('late', wish(1_000)), member('elsewhere', wish(2), { queue: 'r' })])).toEqual({
      gangs: ['shop/train q 2 2 2'],
      refused: [
        [1, 'GangSizesDiffer', 'names 1000 as the size of gang shop/train; its pods that were let in name 2'],
        [1, 'GangInSeveralQueues', 'is in queue r; the pods of gang shop/train that were let in are in queue q'],
      ],
    });
  });

  test('different queues: none goes in', () => {
    expect(grouped([...members(1, wish(3)), ...members(2, wish(3), { queue: 'r' }, 1)]).refused).toEqual([
      [
        3,
        'GangInSeveralQueues',
        'the pods of gang shop/train are in different queues: r (2 of its pods), q (1 of its pods)',
      ],
    ]);
  });

  test('pods beyond the size wait until one ends', () => {
    const { gangs, refused } = grouped([...members(2, wish(2), { isIn: true }), ...members(3, wish(2), {}, 2)]);
    expect([gangs, refused]).toEqual([
      ['shop/train q 2 2 2'],
      [[3, 'GangFull', 'gang shop/train has all of its 2 pods: waits until one of them ends']],
    ]);
  });

  test('members that have succeeded are not waited for, those of another run are', () => {
    const succeeded = (_: string, run: string): number => (run === 'job' ? 5 : 8);
    expect(grouped(members(3, wish(8), { run: 'job' }), { succeeded }).gangs).toEqual(['shop/train q 3 3 3']);
    expect(grouped(members(3, wish(8)), { succeeded }).gangs).toEqual(['shop/train q 8 8 3']);
  });

  test('a Job that replaces pods that have succeeded keeps as many as run at once', () => {
    const facts = { succeeded: () => 9 };
    const running = members(7, wish(8), { run: 'job', isIn: true });
    const [eighth, ninth] = [members(1, wish(8), { run: 'job' }, 7), members(1, wish(8), { run: 'job' }, 8)];
    expect(grouped([...running, ...eighth], facts)).toEqual({ gangs: ['shop/train q 1 8 8'], refused: [] });
    expect(grouped([...running, ...eighth, ...ninth], facts).refused.map(([, code]) => code)).toEqual(['GangFull']);
  });

  test('a PodGroup says the minimum; without it its pods wait', () => {
    const native = wish(undefined, { groupOf: 'scheduling.k8s.io' });
    expect(grouped(members(9, native), { minOf: () => 4 }).gangs).toEqual(['shop/train q 4 9 9']);
    expect(grouped(members(2, native)).refused.map(([, code]) => code)).toEqual(['PodGroupNotFound']);
    expect(grouped(members(2, native), { minOf: () => 'None' })).toEqual({ gangs: [], refused: [] });
    expect(grouped(members(2, native), { minOf: () => 'Unread' }).refused.map(([, code]) => code)).toEqual([
      'PodGroupNotRead',
    ]);
  });

  test('a pod with a bad value is in no gang and keeps the others from nothing', () => {
    const problem = { code: 'GangSizeInvalid', text: 'bad', facts: {} };
    const { gangs, refused } = grouped([...members(2, wish(2)), ...members(2, wish(undefined, { problem }), {}, 2)]);
    expect([gangs, refused]).toEqual([['shop/train q 2 2 2'], [[2, 'GangSizeInvalid', 'bad']]]);
  });

  test('each pod is in one gang or refused once; sizes are bounded; the order of pods changes no gang', () => {
    const each = fc.record({
      name: fc.constantFrom('a', 'b'),
      namespace: fc.constantFrom('shop', 'bank'),
      size: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      min: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      queue: fc.constantFrom('q', 'q', 'r'),
      isIn: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(each, { maxLength: 12 }), (worlds) => {
        const all = worlds.map(({ name, namespace, size, min, ...rest }, index) =>
          member(`${index}`, { name, size, min }, { ...rest, name: `${namespace}/${index}` }),
        );
        const { gangs, refused } = groupGangs(all, PLAIN);
        const found = [...gangs, ...refused].flatMap(({ members: of }) => of.map(({ uid }) => uid));
        expect(found.toSorted()).toEqual(all.map(({ uid }) => uid).toSorted());
        for (const gang of gangs) {
          expect(new Set(gang.members.map(({ queue: of }) => of)).size).toBe(1);
          expect(gang.min).toBeLessThanOrEqual(Math.max(gang.size, gang.min));
        }
        const keys = (of: typeof gangs) => of.map(({ key, min, queue: at }) => [key, min, at]);
        const turned = groupGangs(all.toReversed(), PLAIN).gangs;
        const isClear = (gang: (typeof gangs)[number]) => !gang.members.some(({ isIn }) => isIn);
        expect(new Set(keys(turned.filter(isClear)).map(String))).toEqual(
          new Set(keys(gangs.filter(isClear)).map(String)),
        );
      }),
      { seed: 48, numRuns: 1_000 },
    );
  });
});

describe('a gang that its queue may never hold', () => {
  const tree = createQueueTree([queue('all', undefined, { max: cpu(12_000) }), queue('q', 'all')]);
  const sized = (count: number, amount: number, min = 8) => {
    const [gang] = groupGangs(
      members(count, wish(8, { min })).map((each) => ({ ...each, requests: cpu(amount) })),
      PLAIN,
    ).gangs;
    return gang === undefined ? undefined : tooLarge(gang, tree);
  };

  test('is refused with both amounts and the queue', () => {
    expect(sized(8, 2_000)?.text).toBe('gang shop/train needs 16 cpu for 8 pods; queue all has at most 12');
    expect(sized(8, 1_500)).toBeUndefined();
  });

  test('is not judged by members that are not there, nor by more than have to run together', () => {
    expect([sized(6, 2_000), sized(8, 2_000, 6)]).toEqual([undefined, undefined]);
    expect(sized(7, 2_000)?.facts).toMatchObject({ needed: '14', pods: 7 });
  });

  test('pods count, also those that are not there yet', () => {
    const bounded = createQueueTree([queue('q', undefined, { max: new Map([['pods', 5_000]]) })]);
    const [gang] = groupGangs([{ ...member('a', wish(8)), requests: cpu(1) }], PLAIN).gangs;
    expect(gang && tooLarge(gang, bounded)?.text).toBe(
      'gang shop/train needs 8 pods for 8 pods; queue q has at most 5',
    );
  });
});

describe('a tenant whose pods name one gang without number', () => {
  const MANY = 150_000;

  test('costs time in proportion', () => {
    const inside = members(1, wish(1_000), { isIn: true });
    const startedAt = performance.now();
    const found = grouped([...inside, ...members(MANY, wish(1_000), {}, 1)]);
    expect([found.gangs, found.refused[0]?.[0]]).toEqual([['shop/train q 1000 1000 1000'], MANY - 999]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('is answered for each of them', () => {
    const inside = members(1, wish(2), { isIn: true });
    expect(grouped([...inside, ...members(MANY, wish(3), {}, 1)]).refused).toHaveLength(MANY);
  });

  test('starts with no more than the largest gang; the others come once it runs', () => {
    const least = wish(undefined, { min: 2 });
    const found = grouped(members(5_000, least));
    expect([found.gangs, found.refused[0]?.[0]]).toEqual([['shop/train q 2 1000 1000'], 4_000]);
    const running = members(2, least, { isIn: true });
    expect(grouped([...running, ...members(4_998, least, {}, 2)])).toEqual({
      gangs: ['shop/train q 2 5000 5000'],
      refused: [],
    });
  });
});
