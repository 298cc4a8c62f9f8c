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
    ['what it reports when the leader begins', [[0, 100_000]], [100_000]],
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
      'a large growth once it has lasted for ten minutes',
      [
        [0, 8],
        [1, 100_000],
        [10, 100_000],
        [11, 100_000],
      ],
      [8, 8, 8, 100_000],
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
      ],
      [80, 80, 100_000],
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

  test('for any reports, a node that is known grows to twice of what it had ten minutes ago at most', () => {
    const report = fc.record({
      after: fc.integer({ min: 1, max: 300 }),
      cpu: fc.constantFrom(1, 8, 12, 20, 60, 500, 100_000),
    });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 12 }), (reports) => {
        const believed = new BelievedNodes();
        let now = 0;
        believed.amountsOf(nodeOf(8), now);
        for (const { after, cpu } of reports) {
          now += after * 1_000;
          const amount = Number(believed.amountsOf(nodeOf(cpu), now).get('cpu')) / 1_000;
          if (now < 10 * MINUTE) expect(amount).toBeLessThanOrEqual(16);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('gates do not open for what a node only says, and open when it has said so for long', () => {
    const world = queueWorld([queueFor('shop')]);
    const believed = new BelievedNodes();
    const letIn = (now: number) => world.plan(false, 'Guarantees', { now, believed });
    for (let index = 0; index < 30; index += 1) world.see({ name: `p-${index}`, gates: [GATE] });
    expect(letIn(0).letIn.length).toBe(8);
    putNode(world.snapshot, buildNode({ name: 'node-0', allocatable: { cpu: '100000' } }));
    const plan = letIn(MINUTE);
    expect([plan.letIn.length, plan.doubts.length]).toEqual([8, 1]);
    expect(letIn(11 * MINUTE).letIn.length).toBe(30);
    expect(letIn(11.1 * MINUTE).doubts).toEqual([]);
  });
});
