import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { measurementsIn } from '#shared/domain/rescheduling/load.ts';
import { buildPressure } from '#test/build/node-pressure.ts';

const NOW = Date.UTC(2026, 0, 1);
const FIGURES = { cpu: 250, memory: 7, waiting: { cpu: 40 }, oomKills: 1 };

function measured(ageSeconds: number, changes: Partial<NodePressureFacts> = {}) {
  const snapshot = createSnapshot({ nodes: [], pods: [] });
  const memory = { used: 5, ofPods: new Map([['u', 3]]) };
  const facts = { observedAt: NOW - ageSeconds * 1_000, memory, pods: new Map([['u', FIGURES]]), ...changes };
  snapshot.pressures.set('a', buildPressure('a', facts));
  const { ofNode, ofPod, figuresOf } = measurementsIn(snapshot, NOW);
  return { node: ofNode('a'), pod: ofPod('u'), figures: figuresOf?.('u') };
}

const NOTHING = { node: undefined, pod: undefined, figures: undefined };

describe('measurementsIn', () => {
  test.each<[string, number, NodePressureFacts['pressure'], boolean]>([
    ['seven minutes old, of a quiet node', 420, undefined, true],
    ['older', 421, undefined, false],
    ['a minute old, of a node under pressure', 60, 'Soft', true],
    ['older, of such a node', 61, 'Soft', false],
  ])('a report that is %s', (_, age, pressure, isFresh) => {
    const expected = { node: { cpu: 0, memory: 5 }, pod: { cpu: 0, memory: 3 }, figures: FIGURES };
    expect(measured(age, { pressure })).toEqual(isFresh ? expected : NOTHING);
  });

  test('a report without memory still says how pods fare, and one of an older agent does not', () => {
    expect(measured(1, { memory: undefined })).toEqual({ ...NOTHING, figures: FIGURES });
    expect(measured(1, { memory: undefined, pods: undefined })).toEqual(NOTHING);
  });
});
