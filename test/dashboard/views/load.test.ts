import { describe, expect, test } from 'vitest';
import { loadShares, loadText, type NodeLoad, nodeLoads } from '#dashboard/views/load.ts';
import { nodeSummary, nodeView } from '#dashboard/views/node-view.ts';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { spareSums } from '#shared/domain/spare/spare-sums.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const GIB = 2 ** 30;
const because = { code: 'NoRoom', text: 'nothing more is lent', facts: {} };
const SIGNALS = [
  { name: 'memory.available', state: 'Far', available: '8Gi', capacity: '16Gi' },
  { name: 'cpu.available', state: 'Far', available: '3', capacity: '4' },
];

interface Figures {
  readonly mode?: string;
  readonly requested: number;
  readonly used: number;
  readonly lendable?: number;
}

function summary(name: string, figures: Figures | undefined, { at = NOW, signals = SIGNALS } = {}) {
  const spare = figures && spareOf(figures);
  const status = { observedAt: new Date(at).toISOString(), mode: 'Enforce', signals, spare };
  const view = nodeView(decodeNodePressure({ metadata: { name }, status }), NOW);
  if (view === undefined) throw new Error('no view');
  return nodeSummary(view);
}

function spareOf({ mode = 'Enforce', requested, used, lendable = 0 }: Figures): object {
  const memory = { requested, used, p99: used + GIB, lendable, lent: lendable, taken: 0, because };
  const cpu = { requested: 2_500, used: 250, p99: 1_000, lendable: 1_000, lent: 500, taken: 300, because };
  return { mode, since: '2026-01-01T10:00:00Z', memory, cpu };
}

function load(kind: 'memory' | 'cpu', ...args: Parameters<typeof summary>): NodeLoad {
  const [only] = nodeLoads([summary(...args)], kind);
  if (only === undefined) throw new Error('measures nothing');
  return only;
}

describe('nodeLoads', () => {
  test('only nodes whose agent measures and reports, the most idle first, then by name', () => {
    const nodes = [
      summary('b', { requested: 4 * GIB, used: 3 * GIB }),
      summary('a', { requested: 4 * GIB, used: 3 * GIB }),
      summary('overused', { requested: GIB, used: 9 * GIB }),
      summary('idle', { requested: 9 * GIB, used: GIB }),
      summary('none', undefined),
      summary('silent', { requested: 9 * GIB, used: 0 }, { at: NOW - 3_600_000 }),
    ];
    expect(nodeLoads(nodes, 'memory').map(({ name }) => name)).toEqual(['idle', 'a', 'b', 'overused']);
  });

  test('a node says why nothing can be lent, and nothing where something can', () => {
    const node = summary('a', { requested: GIB, used: GIB });
    expect((['memory', 'cpu'] as const).map((kind) => nodeLoads([node], kind)[0]?.why)).toEqual([because.text, '']);
  });
});

describe('the line of a node', () => {
  test('figures are shares of what the node has, lendable and lent room begins where use ends', () => {
    const node = { requested: 12 * GIB, used: 4 * GIB, lendable: 6 * GIB };
    expect(loadShares(load('memory', 'a', node))).toEqual({
      used: 0.25,
      lendable: 0.375,
      p99: 0.3125,
      requested: 0.75,
      lent: 0.625,
    });
    expect(loadShares(load('cpu', 'a', node))).toEqual({
      used: 0.0625,
      lendable: 0.25,
      p99: 0.25,
      requested: 0.625,
      lent: 0.1875,
    });
  });

  test('where more is requested than there is, and without a capacity, it is as long as the highest figure', () => {
    const node = { requested: 32 * GIB, used: 8 * GIB };
    expect(loadShares(load('memory', 'a', node))).toMatchObject({ used: 0.25, requested: 1, lent: undefined });
    expect(loadShares(load('memory', 'a', { requested: 8 * GIB, used: 2 * GIB }, { signals: [] }))).toMatchObject({
      used: 0.25,
      requested: 1,
    });
    expect(
      loadShares({ ...load('cpu', 'a', node, { signals: [] }), requested: 0, used: 0, p99: 0, lendable: 0, lent: 0 })
        .used,
    ).toBe(0);
  });

  test('in words: a dry run lends nothing, and the unit is that of the resource', () => {
    const node = { mode: 'DryRun', requested: 12 * GIB, used: 4 * GIB, lendable: 6 * GIB };
    expect(loadText('memory', load('memory', 'a', node))).toBe(
      'of 16Gi, requested 12Gi, used 4Gi, p99 5Gi, lendable 6Gi',
    );
    expect(loadText('cpu', load('cpu', 'a', node))).toMatch(/^of 4 cores, requested 2\.5, /);
    expect(loadText('cpu', load('cpu', 'a', { ...node, mode: 'Enforce' }, { signals: [] }))).toBe(
      'requested 2.5, used 0.3, p99 1, lendable 1, lent 0.5, taken 0.3',
    );
  });
});

test('sums: what one node lacks is not subtracted from what another has idle, and a dry run lends nothing', () => {
  const amounts = { lendable: 3, lent: 2, taken: 1 };
  expect(
    spareSums([
      { mode: 'Enforce', requested: 10, used: 4, ...amounts },
      { mode: 'DryRun', requested: 5, used: 9, ...amounts },
    ]),
  ).toEqual({ requested: 15, idle: 6, lendable: 6, lent: 2, taken: 2 });
  expect(spareSums([])).toEqual({ requested: 0, idle: 0, lendable: 0, lent: 0, taken: 0 });
});
