import { describe, expect, test } from 'vitest';
import { NO_STALLS, summaryStalls } from '#agent/observe/kubelet/summary-node.ts';

const SINCE = Date.parse('2026-01-01T00:00:00Z');
const FRESH = '2026-01-01T00:00:05Z';
const OLD = '2025-12-31T23:59:59Z';

const line = (avg10: number, total = 1) => ({ total, avg10, avg60: 20, avg300: 0 });
const part = (psi: object, time = FRESH) => ({ time, psi });
const waited = part({ some: line(50, 161_339_892), full: line(0, 0) });
const idle = part({ some: line(0, 0), full: line(0, 0) });

function node(changes: object = {}) {
  return { node: { cpu: waited, ...changes } };
}

describe('summaryStalls', () => {
  test('takes the averages of the node as shares of time', () => {
    const memory = part({ some: line(10.6), full: line(9.5) });
    const { ratios } = summaryStalls(node({ memory }), SINCE);
    expect(ratios.filter(({ signal }) => signal === 'memory.pressure')).toEqual([
      { signal: 'memory.pressure', share: 'some', windowMs: 10_000, ratio: 0.106 },
      { signal: 'memory.pressure', share: 'some', windowMs: 60_000, ratio: 0.2 },
      { signal: 'memory.pressure', share: 'some', windowMs: 300_000, ratio: 0 },
      { signal: 'memory.pressure', share: 'full', windowMs: 10_000, ratio: 0.095 },
      { signal: 'memory.pressure', share: 'full', windowMs: 60_000, ratio: 0.2 },
      { signal: 'memory.pressure', share: 'full', windowMs: 300_000, ratio: 0 },
    ]);
  });

  test('reports how long each pod stalled over the last ten seconds', () => {
    const thrash = { podRef: { uid: 'uid-thrash' }, memory: part({ some: line(16.2), full: line(16.1) }), cpu: waited };
    const quiet = { podRef: { uid: 'uid-quiet' }, memory: idle, io: part({ some: line(7) }, OLD) };
    const { podPressures } = summaryStalls({ ...node(), pods: [thrash, quiet, { podRef: {} }, 'nonsense'] }, SINCE);
    expect([...podPressures]).toEqual([
      ['uid-thrash', { waiting: { memory: 0.162, cpu: 0.5 }, stalled: { memory: 0.161, cpu: 0 } }],
      ['uid-quiet', { waiting: { memory: 0 }, stalled: { memory: 0 } }],
    ]);
  });

  test('a total of 0 means no pressure on a node that has waited for a CPU', () => {
    const { ratios } = summaryStalls(node({ io: part({ some: { total: 0, avg10: 0 } }) }), SINCE);
    expect(ratios).toContainEqual({ signal: 'io.pressure', share: 'some', windowMs: 10_000, ratio: 0 });
  });

  test('ignores PSI of only zeros, which the kubelet writes on cgroup v1', () => {
    const pods = [{ podRef: { uid: 'uid-1' }, memory: part({ some: line(0, 0) }), cpu: idle }];
    expect(summaryStalls({ node: { cpu: idle, memory: idle }, pods }, SINCE)).toEqual(NO_STALLS);
  });

  test.each([
    ['too old', part({ some: line(90), full: line(90) }, OLD)],
    ['without a time', { psi: { some: line(90) } }],
    ['of another form', part({ some: { total: 'x', avg10: '90' }, full: [] })],
  ])('what is %s is left out', (_name, memory) => {
    const { ratios } = summaryStalls(node({ memory }), SINCE);
    expect(ratios.filter(({ signal }) => signal === 'memory.pressure')).toEqual([]);
  });

  test.each([[{}], [null], [{ node: { cpu: { psi: { some: { total: 'x' } } } } }], [{ node: [], pods: {} }]])(
    '%j has none',
    (raw) => expect(summaryStalls(raw, SINCE)).toEqual(NO_STALLS),
  );
});
