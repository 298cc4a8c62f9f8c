import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { followTemplate, type MadeQueue, type ShareFields, withChanges } from '#shared/domain/queue/follow-template.ts';
import { cpu } from './builders.ts';

type Fields = Readonly<Record<string, string | number>>;

const fields = (of: Fields): ShareFields => new Map(Object.entries(of));

interface Given {
  readonly template: Fields;
  readonly live?: Fields;
  readonly written?: Fields | undefined;
  readonly taken?: readonly string[];
}

const WAS: Fields = { weight: 2, 'max.cpu': '3', ordering: 'Strict' };

/** What one queue changes. */
function changesOf({ template, live = WAS, written = WAS, taken = [] }: Given): object {
  const made: MadeQueue = {
    name: 'teams.a',
    guaranteed: new Map(),
    taken: new Set(taken),
    live: fields(live),
    written: fields(written),
  };
  const nothing = { each: new Map(), guaranteed: new Map(), promised: new Map() };
  const [step] = followTemplate({ template: fields(template), ...nothing, made: [made] });
  return Object.fromEntries(step?.changes ?? []);
}

describe('a queue that was made from a template', () => {
  test.each<[string, Given, object]>([
    ['stays as it is while the template does', { template: WAS }, {}],
    ['follows a changed value', { template: { ...WAS, weight: 5 } }, { weight: 5 }],
    ['gets a new field', { template: { ...WAS, 'max.memory': '1Gi' } }, { 'max.memory': '1Gi' }],
    ['loses a field', { template: { weight: 2, 'max.cpu': '3' } }, { ordering: undefined }],
    ['keeps what a person has changed', { template: { ...WAS, weight: 5 }, live: { ...WAS, weight: 9 } }, {}],
    [
      'keeps out what a person has taken away',
      { template: { ...WAS, 'max.cpu': '4', weight: 5 }, live: { weight: 2, ordering: 'Strict' } },
      { weight: 5 },
    ],
    [
      'keeps what a person has added',
      { template: { ...WAS, 'max.memory': '1Gi' }, live: { ...WAS, 'max.memory': '5Gi' } },
      {},
    ],
    [
      'keeps what another writer owns with the same value',
      { template: { ...WAS, weight: 5, 'max.cpu': '4' }, taken: ['weight'] },
      { 'max.cpu': '4' },
    ],
    [
      'keeps below a field that another writer owns whole',
      { template: { ...WAS, 'max.cpu': '4' }, taken: ['max'] },
      {},
    ],
    [
      'follows again once a person has written its value back',
      { template: { ...WAS, weight: 5 }, live: { ...WAS, weight: 2 } },
      { weight: 5 },
    ],
  ])('%s', (_, given, changes) => {
    expect(changesOf(given)).toEqual(changes);
  });

  test('follows nothing where nothing says what was written', () => {
    const made = { name: 'a', live: fields(WAS), written: undefined, taken: new Set<string>(), guaranteed: new Map() };
    const template = fields({ weight: 5 });
    expect(followTemplate({ template, each: cpu(0), guaranteed: cpu(9), promised: cpu(0), made: [made] })).toEqual([]);
  });
});

/** Queues with these guarantees, in order, as the leader made them. */
function madeWith(amounts: readonly number[], change: Partial<MadeQueue> = {}): readonly MadeQueue[] {
  return amounts.map((amount, index): MadeQueue => {
    const own = amount === 0 ? fields({}) : fields({ 'guaranteed.cpu': String(amount) });
    return { name: `q${index}`, live: own, written: own, taken: new Set(), guaranteed: cpu(amount), ...change };
  });
}

function guaranteesAfter(each: number, ofParent: number, made: readonly MadeQueue[], others = 0): readonly number[] {
  const template = each === 0 ? fields({}) : fields({ 'guaranteed.cpu': String(each) });
  const promised = made.reduce((sum, { guaranteed }) => sum + Number(guaranteed.get('cpu')), others);
  const steps = followTemplate({ template, each: cpu(each), guaranteed: cpu(ofParent), promised: cpu(promised), made });
  return made.map(({ name, live }) => {
    const changes = steps.find((step) => step.name === name)?.changes ?? new Map<string, undefined>();
    return Number(withChanges(live, changes).get('guaranteed.cpu') ?? 0);
  });
}

describe('guarantees come out of that of the parent', () => {
  interface Case {
    readonly each: number;
    readonly ofParent: number;
    readonly before: readonly number[];
    readonly others?: number;
    readonly after: readonly number[];
  }
  test.each<[string, Case]>([
    ['all rise where there is enough', { each: 3, ofParent: 6, before: [2, 2], after: [3, 3] }],
    [
      'the first rises where there is not, and the other keeps its own',
      { each: 3, ofParent: 5, before: [2, 2], after: [3, 2] },
    ],
    ['none rises where there is nothing more', { each: 3, ofParent: 4, before: [2, 2], after: [2, 2] }],
    ['what a person has promised counts', { each: 3, ofParent: 6, before: [2, 2], others: 1, after: [3, 2] }],
    [
      'a queue that was made without one gets it when there is enough',
      { each: 2, ofParent: 4, before: [2, 0], after: [2, 2] },
    ],
    ['all fall, also where too much is promised', { each: 1, ofParent: 0, before: [2, 2], after: [1, 1] }],
    ['all are taken away with that of the template', { each: 0, ofParent: 9, before: [2, 2], after: [0, 0] }],
  ])('%s', (_, { each, ofParent, before, others, after }) => {
    expect(guaranteesAfter(each, ofParent, madeWith(before), others)).toEqual(after);
  });

  test('a queue whose guarantee cannot follow still follows in the rest', () => {
    const own = fields({ 'guaranteed.cpu': '2', weight: 1 });
    const template = fields({ 'guaranteed.cpu': '3', weight: 7 });
    const made = madeWith([2], { live: own, written: own });
    const [step] = followTemplate({ template, each: cpu(3), guaranteed: cpu(2), promised: cpu(2), made });
    expect(step).toEqual({
      name: 'q0',
      changes: new Map([['weight', 7]]),
      written: fields({ 'guaranteed.cpu': '2', weight: 7 }),
    });
  });

  test('for any queues: no more than the parent has or had promised, nobody loses by a rise, and a third look changes nothing', () => {
    const some = fc.array(fc.nat(5), { maxLength: 8 });
    fc.assert(
      fc.property(fc.nat(6), fc.nat(30), some, (each, ofParent, before) => {
        const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
        const after = guaranteesAfter(each, ofParent, madeWith(before));
        expect(sum(after)).toBeLessThanOrEqual(Math.max(ofParent, sum(before)));
        for (const [index, amount] of after.entries())
          expect(amount).toBeGreaterThanOrEqual(Math.min(each, before[index] ?? 0));
        // What falls in the first look is there for others in the second.
        const again = guaranteesAfter(each, ofParent, madeWith(after));
        expect(guaranteesAfter(each, ofParent, madeWith(again))).toEqual(again);
      }),
      { seed: 84, numRuns: 300 },
    );
  });
});
