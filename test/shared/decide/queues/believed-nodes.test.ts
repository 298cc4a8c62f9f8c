import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BelievedNodes } from '#shared/decide/queues/believed-nodes.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode } from '#test/build/cluster.ts';
import { GATE, queueFor, queueWorld } from './queue-world.ts';

const MINUTE = 60_000;
const GPU = 'example.com/gpu';

const nodeOf = (cpu: number, name = 'a', more: Readonly<Record<string, string>> = {}) =>
  buildNode({ name, allocatable: { cpu: `${cpu}`, ...more } });

/** What is believed of node `a` at each minute, by what it reports then; node `b` has 8 CPUs. */
function follow(reports: readonly (readonly [minute: number, cpu: number])[]): readonly unknown[] {
  const believed = new BelievedNodes();
  believed.amountsOf(nodeOf(8, 'b'), 0);
  return reports.map(([minute, cpu]) => {
    believed.amountsOf(nodeOf(8, 'b'), minute * MINUTE);
    return Number(believed.amountsOf(nodeOf(cpu), minute * MINUTE).get('cpu')) / 1_000;
  });
}

describe('how far a node is believed', () => {
  test.each<[string, readonly (readonly [number, number])[], readonly number[]]>([
    ['what it reports when the first leader begins', [[0, 100_000]], [100_000]],
    [
      'a small change at once',
      [
        [0, 8],
        [1, 16],
        [2, 8],
      ],
      [8, 16, 8],
    ],
    [
      'a large growth, once it has lasted for ten minutes, up to twice as much, and then once an hour',
      [
        [0, 8],
        [1, 100_000],
        [10, 100_000],
        [11, 100_000],
        [59, 100_000],
        [60, 100_000],
        [119, 100_000],
        [120, 100_000],
        [180, 100_000],
      ],
      [8, 8, 8, 16, 16, 32, 32, 64, 128],
    ],
    [
      'a growth to the size of another node once it has lasted for ten minutes',
      [
        [0, 1],
        [1, 8],
        [10, 8],
        [11, 8],
        [12, 8],
      ],
      [1, 1, 1, 8, 8],
    ],
    [
      'a node that doubles every ten minutes as one that doubles every hour',
      [
        [0, 8],
        [10, 16],
        [20, 32],
        [30, 64],
        [40, 128],
        [50, 256],
        [60, 512],
        [70, 1024],
      ],
      [8, 16, 16, 16, 16, 16, 32, 32],
    ],
    [
      'a large growth not if it goes away',
      [
        [0, 8],
        [1, 100_000],
        [5, 8],
        [12, 100_000],
      ],
      [8, 8, 8, 8],
    ],
    [
      'growth in steps as growth at once',
      [
        [0, 8],
        [1, 16],
        [2, 32],
        [3, 64],
        [4, 128],
      ],
      [8, 16, 16, 16, 16],
    ],
    [
      'a large loss once it has lasted, so that nobody is evicted for a moment',
      [
        [0, 8],
        [1, 0],
        [9, 0],
        [11, 0],
      ],
      [8, 8, 8, 0],
    ],
    [
      'a new node up to ten times the largest other one',
      [
        [3, 100_000],
        [4, 100_000],
        [13, 100_000],
        [62, 100_000],
        [63, 100_000],
      ],
      [80, 80, 160, 160, 320],
    ],
    ['a new node of usual size at once', [[3, 64]], [64]],
  ])('%s', (_, reports, expected) => {
    expect(follow(reports)).toEqual(expected);
  });

  test('the devices of a node that registers before its plugin count at once, unless others have far fewer', () => {
    const believed = new BelievedNodes();
    believed.amountsOf(nodeOf(8), 0);
    expect(believed.amountsOf(nodeOf(8, 'a', { [GPU]: '8' }), MINUTE).get(GPU)).toBe(8_000);
    believed.amountsOf(nodeOf(8, 'b'), MINUTE);
    expect(believed.amountsOf(nodeOf(8, 'b', { [GPU]: '10000' }), 2 * MINUTE).get(GPU)).toBe(80_000);
    expect(believed.doubts().map(({ text }) => text)).toEqual([
      `node b reports 10k ${GPU}; 80 counts until 1970-01-01T00:12:00.000Z`,
    ]);
  });

  test('for any reports of several nodes, none has more than twice an hour what the largest had, or ten times as new', () => {
    const report = fc.record({
      node: fc.constantFrom('a', 'b', 'c'),
      after: fc.integer({ min: 1, max: 1_200 }),
      cpu: fc.constantFrom(0, 1, 8, 12, 20, 60, 500, 100_000),
    });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 40 }), (reports) => {
        const believed = new BelievedNodes();
        const reported = new Map(['a', 'b', 'c'].map((name) => [name, 8]));
        let now = 0;
        for (const { node, after, cpu } of [{ node: 'a', after: 0, cpu: 8 }, ...reports]) {
          now += after * 1_000;
          reported.set(node, cpu);
          const amounts = Array.from(reported, ([name, reports]) =>
            Number(believed.amountsOf(nodeOf(reports, name), now).get('cpu') ?? 0),
          );
          const hours = Math.floor(now / (60 * MINUTE));
          if (hours === 0) expect(Math.max(...amounts) / 1_000).toBeLessThanOrEqual(16);
          expect(Math.max(...amounts) / 1_000).toBeLessThanOrEqual(16 * 20 ** hours);
        }
      }),
      { numRuns: 300 },
    );
  });

  describe('when a leader begins after another one', () => {
    const HOUR = 60 * MINUTE;
    const known = (createdAt?: number, cpu = 100_000, more: Readonly<Record<string, string>> = {}) => ({
      ...nodeOf(cpu, 'a', more),
      ...(createdAt !== undefined && { createdAt }),
    });
    const beginning = (largest: Readonly<Record<string, number>> = { cpu: 8_000 }) =>
      new BelievedNodes({ largest: new Map(Object.entries(largest)), until: HOUR });

    test.each<[string, ReturnType<typeof known>, number]>([
      ['a node that is older counts for as much as the largest was believed', known(0), 8],
      ['so does one that says no age', known(), 8],
      ['one that has what others had counts as it is', known(0, 6), 6],
      ['one that came since counts as a new one', known(2 * HOUR), 80],
    ])('%s', (_, node, expected) => {
      for (const order of [[nodeOf(64, 'b'), node], [node]]) {
        const believed = beginning();
        const amounts = order.map((each) => believed.amountsOf(each, 3 * HOUR).get('cpu'));
        expect([order.length, Number(amounts.at(-1)) / 1_000]).toEqual([order.length, expected]);
      }
    });

    test('what is not believed is named, and grows no faster than later', () => {
      const believed = beginning();
      const cpuAt = (minutes: number): number => {
        believed.amountsOf(nodeOf(8, 'b'), 2 * HOUR + minutes * MINUTE);
        const amount = believed.amountsOf(known(0), 2 * HOUR + minutes * MINUTE).get('cpu');
        believed.forgetOthers(2 * HOUR + minutes * MINUTE);
        return Number(amount) / 1_000;
      };
      expect([0, 9, 10, 59, 60, 120].map(cpuAt)).toEqual([8, 8, 16, 16, 32, 64]);
      expect(believed.doubts().map(({ text }) => text)).toEqual([expect.stringContaining('node a reports 100k cpu')]);
    });

    test('a type that the former did not know counts as it is', () => {
      expect(
        beginning()
          .amountsOf(known(0, 8, { [GPU]: '8' }), HOUR)
          .get(GPU),
      ).toBe(8_000);
    });

    test('the largest goes on to the next, without what is not believed', () => {
      const believed = beginning();
      believed.amountsOf(known(0), 2 * HOUR);
      believed.amountsOf(nodeOf(4, 'b', { [GPU]: '2' }), 2 * HOUR);
      expect([...believed.largest()]).toEqual([
        ['cpu', 8_000],
        ['pods', 110_000],
        [GPU, 2_000],
      ]);
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a.example.com/${index}`, '1']));
      believed.amountsOf(nodeOf(4, 'c', many), 2 * HOUR);
      expect([believed.largest().size, believed.largest().get('cpu')]).toEqual([32, 8_000]);
    });
  });

  test('gates do not open for what a node only says, nor when it has said so for long', () => {
    const world = queueWorld([queueFor('shop')]);
    const believed = new BelievedNodes();
    const letIn = (now: number) => world.plan(false, 'Guarantees', { now, believed });
    for (let index = 0; index < 30; index += 1) world.see({ name: `p-${index}`, gates: [GATE] });
    expect(letIn(0).letIn.length).toBe(8);
    putNode(world.snapshot, buildNode({ name: 'node-0', allocatable: { cpu: '100000' } }));
    const plan = letIn(MINUTE);
    expect([plan.letIn.length, plan.doubts.length]).toEqual([8, 1]);
    expect(letIn(11 * MINUTE).letIn.length).toBe(16);
    expect(letIn(11.1 * MINUTE).doubts.map(({ text }) => text)).toEqual([
      'node node-0 reports 100k cpu; 16 counts until 1970-01-01T01:00:00.000Z',
    ]);
    putNode(world.snapshot, buildNode({ name: 'node-0', allocatable: { cpu: '16' } }));
    expect(letIn(12 * MINUTE).doubts).toEqual([]);
  });
});
