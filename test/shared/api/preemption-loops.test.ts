import { describe, expect, test } from 'vitest';
import { decodeNodePressure, encodePreemptionLoops } from '#shared/api/node-pressure.ts';

describe('spec.preemptionLoops of a NodePressure', () => {
  test('a loop without owners, rounds or an end, or with an end beyond any window, is left out', () => {
    const [preemptor, victim] = ['a', 'b'].map((name) => ({ namespace: 'n', kind: 'Job', name }));
    const rounds = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'];
    const whole = { preemptor, victim, rounds, until: '2026-01-01T01:00:00Z', action: 'Refuse' };
    const broken = [
      { victim: 'b' },
      { preemptor: {} },
      { rounds: [] },
      { rounds: 'often' },
      { until: undefined },
      { until: '2026-01-02T00:01:01Z' },
    ];
    const read = (entry: unknown) => decodeNodePressure({ spec: { preemptionLoops: [entry] } }).preemptionLoops;
    for (const fields of [...broken]) expect(read({ ...whole, ...fields })).toEqual([]);
    for (const entry of [null, 7, 'loop', []]) expect(read(entry)).toEqual([]);
    expect(read({ ...whole, action: 'Delete', rounds: [rounds[1], 'x', rounds[0], 7] })).toMatchObject([
      { action: undefined, rounds: rounds.map((text) => Date.parse(text)) },
    ]);
    expect(read({ ...whole, rounds: Array.from({ length: 40 }, () => rounds[0]) })[0]?.rounds).toHaveLength(16);
  });

  test('as many loops as an object may hold, with the longest names, stay below 32 KiB', () => {
    const owner = { namespace: 'n'.repeat(63), kind: 'K'.repeat(253), name: 'x'.repeat(253) };
    const rounds = Array.from({ length: 16 }, () => '2026-01-01T00:00:00.000Z');
    const until = '2026-01-01T01:00:00.000Z';
    const loop = { preemptor: owner, victim: owner, preemptorUid: 'u'.repeat(36), rounds, until, action: 'Refuse' };
    const list = Array.from({ length: 10 }, () => loop);
    const written = encodePreemptionLoops(decodeNodePressure({ spec: { preemptionLoops: list } }).preemptionLoops);
    expect(written).toEqual(list);
    expect(JSON.stringify(written).length).toBeLessThan(32 * 1024);
  });
});
