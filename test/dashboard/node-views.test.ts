import { describe, expect, test } from 'vitest';
import { createNodeViews } from '#dashboard/live-objects.ts';
import { decodeNodePressure, type NodePressure } from '#shared/api/node-pressure.ts';

const NOW = Date.parse('2026-01-01T11:00:00Z');
const SECOND = 1_000;

function pressure(name: string, state = 'Far'): NodePressure {
  const signals = [{ name: 'memory.available', state, available: '1Gi', capacity: '4Gi', threshold: '500Mi' }];
  const status = { observedAt: new Date(NOW).toISOString(), mode: 'DryRun', signals };
  return decodeNodePressure({ metadata: { name }, status });
}

/** Objects that can be changed, and how often they were read. */
function pressuresOf(...first: readonly NodePressure[]) {
  let [objects, reads] = [first, 0];
  const listeners: (() => void)[] = [];
  return {
    pressures: {
      values: () => ((reads += 1), objects),
      onChange: (listener: () => void) => (listeners.push(listener), () => undefined),
    },
    reads: () => reads,
    change: (...next: readonly NodePressure[]) => {
      objects = next;
      for (const listener of listeners) listener();
    },
  };
}

const NO_NAMES = { values: () => [], onChange: () => () => undefined };

describe('createNodeViews', () => {
  test('many pages that ask in one second get the same nodes, made once', () => {
    const { pressures, reads } = pressuresOf(pressure('b'), pressure('a'));
    const nodes = createNodeViews(pressures, NO_NAMES);
    const first = nodes(NOW);
    expect(first.map(({ name }) => name)).toEqual(['a', 'b']);
    for (let page = 0; page < 100; page += 1) expect(nodes(NOW + page)).toBe(first);
    expect(reads()).toBe(1);
  });

  test('a change is shown at once, and what did not change is the same object', () => {
    const [a, b] = [pressure('a'), pressure('b')];
    const { pressures, change } = pressuresOf(a, b);
    const nodes = createNodeViews(pressures, NO_NAMES);
    const [first] = nodes(NOW);
    change(a, pressure('b', 'Soft'));
    const [same, changed] = nodes(NOW);
    expect([same === first, changed?.state]).toEqual([true, 'Soft']);
  });

  test('a node whose agent fell silent is unknown within a second, also after the clock was set back', () => {
    const nodes = createNodeViews(pressuresOf(pressure('a')).pressures, NO_NAMES);
    const stateAt = (now: number) => nodes(now).map(({ state }) => state);
    expect(stateAt(NOW + 420 * SECOND)).toEqual(['Far']);
    expect(stateAt(NOW + 421 * SECOND)).toEqual(['Unknown']);
    expect(stateAt(NOW)).toEqual(['Far']);
  });

  test('a node of which no agent has reported is there, as the same object, until one does', () => {
    const { pressures, change } = pressuresOf(pressure('a'));
    const nodes = createNodeViews(pressures, { ...NO_NAMES, values: () => [{ name: 'a' }, { name: 'b' }] });
    const [, silent] = nodes(NOW);
    expect([silent?.name, silent?.state, silent?.observedAt]).toEqual(['b', 'NoAgent', undefined]);
    expect(nodes(NOW + 2 * SECOND)[1]).toBe(silent);
    change(pressure('a'), pressure('b'));
    expect(nodes(NOW).map(({ state }) => state)).toEqual(['Far', 'Far']);
  });
});
