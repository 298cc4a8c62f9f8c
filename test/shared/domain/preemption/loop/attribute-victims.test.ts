import { describe, expect, test } from 'vitest';
import { attributeVictims, type NominatedPod } from '#shared/domain/preemption/loop/preemption-rounds.ts';
import { buildPod } from '#test/build/cluster.ts';

const NOW = 100_000;
const victim = { pod: buildPod({ name: 'low' }), node: 'n1', priority: 5, at: NOW };

function nominated(name: string, priority: number): NominatedPod {
  return { pod: buildPod({ name }), priority };
}

function attribute(pods: readonly NominatedPod[], now = NOW) {
  return attributeVictims([victim], (node) => (node === 'n1' ? pods : []), now);
}

describe('attributeVictims', () => {
  test('the preemptor is the pod of higher priority that was nominated last', () => {
    const { waiting, found } = attribute([nominated('first', 9), nominated('last', 8), nominated('equal', 5)]);
    expect(waiting).toEqual([]);
    expect(found).toEqual([
      {
        at: NOW,
        node: 'n1',
        preemptor: { uid: 'uid-last', party: 'default/Pod/last' },
        priority: 8,
        victim: { uid: 'uid-low', party: 'default/Pod/low' },
      },
    ]);
  });

  test('a victim waits ten seconds for a nomination, and is then given up', () => {
    expect(attribute([], NOW + 10_000)).toEqual({ waiting: [victim], found: [] });
    expect(attribute([], NOW + 10_001)).toEqual({ waiting: [], found: [] });
  });

  test('no more victims wait than fit', () => {
    const many = Array.from({ length: 1_200 }, (_, index) => ({ ...victim, at: NOW + index / 1_000 }));
    const { waiting } = attributeVictims(many, () => [], NOW + 2);
    expect([waiting.length, waiting.at(-1)?.at]).toEqual([1_000, NOW + 1.199]);
  });
});
