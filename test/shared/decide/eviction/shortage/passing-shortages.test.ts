import { describe, expect, test } from 'vitest';
import {
  advancePassing,
  isExpectedToPass,
  NO_PASSING,
  passingGate,
  type PassingShortages,
} from '#shared/decide/eviction/shortage/passing-shortages.ts';
import { decidingObservations } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { type NodePod, policy, type Scene, snapshot } from '#test/agent/node-scene.ts';

const SECOND = 1000;
const quiet: NodePod = { name: 'quiet', requests: { memory: '100Mi' }, usageMiB: 110 };

function advance(state: PassingShortages, scenes: readonly Scene[]): PassingShortages {
  return scenes.reduce((before, scene) => {
    const seen = snapshot(scene);
    const observed = decidingObservations(seen, policy()).get('memory.available');
    return advancePassing(before, seen, { observed, thresholds: policy().thresholds });
  }, state);
}

/** For four seconds 40 MiB are left of the 100 that must be, then 500, since the tooth fell. */
function round(startMs: number, change: Partial<Scene> = {}): readonly Scene[] {
  const at = (seconds: number, availableMiB: number): Scene => {
    const tooth: NodePod = { name: 'tooth', requests: { memory: '700Mi' }, usageMiB: 640 - availableMiB };
    return { now: startMs + seconds * SECOND, availableMiB, pods: [tooth, quiet] };
  };
  return [at(0, 80), at(1, 40), at(3, 60), { ...at(4, 500), ...change }];
}

const twice = [...round(0), ...round(20_000)];

describe('a shortage that ended by itself', () => {
  test('twice is expected to do so again, for ten minutes', () => {
    expect(isExpectedToPass(advance(NO_PASSING, round(0)))).toBe(false);
    const known = advance(NO_PASSING, twice);
    expect(isExpectedToPass(known)).toBe(true);
    expect(isExpectedToPass(advance(known, [{ now: 630_000, availableMiB: 500 }]))).toBe(false);
  });

  test('is waited for half as long again as the others lasted', () => {
    const again = advance(advance(NO_PASSING, twice), round(40_000).slice(0, 2));
    expect(passingGate(again, 45_900)?.facts).toEqual({ count: 2, seconds: 4 });
    expect(passingGate(again, 46_000)).toBeUndefined();
  });

  test('is not waited for if it is much deeper, nor before it has happened twice', () => {
    const deeper = advance(advance(NO_PASSING, twice), [{ now: 40_000, availableMiB: 19 }]);
    expect(passingGate(deeper, 40_000)).toBeUndefined();
    const second = advance(advance(NO_PASSING, round(0)), round(20_000).slice(0, 2));
    expect(passingGate(second, 21_000)).toBeUndefined();
  });
});

describe('a shortage did not end by itself', () => {
  test.each<[why: string, change: Partial<Scene>]>([
    ['if the kernel killed', { snapshot: { oomKills: 1 } }],
    ['if the pod that gave back its memory was evicted', { pods: [quiet] }],
    [
      'if that pod terminates',
      { pods: [{ name: 'tooth', usageMiB: 10, deletion: { at: 0, gracePeriodSeconds: 30 } }, quiet] },
    ],
    ['if that pod has no figure any more', { pods: [{ name: 'tooth' }, quiet] }],
    ['if pods that stay gave back too little', { pods: [{ name: 'tooth', usageMiB: 560 }, quiet] }],
  ])('%s', (_, change) => {
    const known = advance(NO_PASSING, [...round(0, change), ...round(20_000, change)]);
    expect(isExpectedToPass(known)).toBe(false);
  });
});
