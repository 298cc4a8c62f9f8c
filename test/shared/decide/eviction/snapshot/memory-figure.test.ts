import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { advanceFigureComparison, NOT_COMPARED } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, memoryReadings, type NodePod } from '#test/agent/node-scene.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

const CAPACITY_MIB = 3926;
const ENFORCE = { ...DEFAULT_POLICY, mode: 'Enforce' } as const;
const reader: NodePod = { name: 'reader', requests: { memory: '100Mi' }, usageMiB: 300 };

/** The same figures for three seconds, so that no threshold waits for confirmation. */
function evictedOver(scene: { availableMiB: number; reclaimableMiB?: number }, policy = DEFAULT_POLICY) {
  let state = FIRST_STATE;
  const evictions = [];
  for (let now = 0; now <= 3000; now += 100) {
    const seen = snapshot({ now, capacityMiB: CAPACITY_MIB, pods: [reader], ...scene });
    const decision = decide(state, seen, { ...policy, mode: 'Enforce' });
    state = decision.state;
    evictions.push(...decision.evictions);
  }
  return evictions;
}

describe('the figure that decides', () => {
  test('page cache causes no eviction: the kubelet sees 220 MiB, 3,544 MiB are reclaimable', () => {
    expect(evictedOver({ availableMiB: 220, reclaimableMiB: 3544 })).toEqual([]);
  });

  test.each([
    ['huge pages', 509],
    ['socket buffers', 447],
  ])('%s: the kubelet sees %d MiB where nothing is left', (_name, availableMiB) => {
    const [eviction] = evictedOver({ availableMiB, reclaimableMiB: 40 });
    expect(eviction).toMatchObject({
      pod: { name: 'reader' },
      signal: 'memory.available',
      stage: 'severe',
      because: {
        code: 'HardThresholdMet',
        text: REASONS.thresholdMet({
          signal: 'memory.available',
          isHard: true,
          available: '40Mi',
          kubeletAvailable: `${availableMiB}Mi`,
          needed: '250Mi',
        }).text,
        facts: { figure: 'Reclaimable', available: '40Mi', kubeletAvailable: `${availableMiB}Mi`, threshold: '250Mi' },
      },
    });
  });

  test('with memoryFigure Kubelet it is the other way round', () => {
    const kubelet = { ...DEFAULT_POLICY, memoryFigure: 'Kubelet' as const };
    expect(evictedOver({ availableMiB: 509, reclaimableMiB: 40 }, kubelet)).toEqual([]);
    const [eviction] = evictedOver({ availableMiB: 100, reclaimableMiB: 3544 }, kubelet);
    expect(eviction?.because).toMatchObject({
      text: REASONS.thresholdMet({
        signal: 'memory.available',
        isHard: true,
        available: '100Mi',
        kubeletAvailable: undefined,
        needed: '250Mi',
      }).text,
      facts: { figure: 'Kubelet' },
    });
  });

  test('the kubelet’s figure decides if it is the only source', () => {
    const [eviction] = evictedOver({ availableMiB: 100 });
    expect(eviction?.because.facts['figure']).toBe('Kubelet');
  });

  test('below the limit of all pods as well', () => {
    const figures = (kubeletMiB: number, reclaimableMiB: number) => {
      const free = memoryReadings(3000, CAPACITY_MIB, 0).memory;
      const seen = snapshot({ now: 0, capacityMiB: CAPACITY_MIB, availableMiB: 3000, pods: [reader] });
      return {
        ...seen,
        readings: { ...seen.readings, allocatableMemory: memoryReadings(kubeletMiB, 2000, 0).memory },
        reclaimable: { memory: free, allocatableMemory: memoryReadings(reclaimableMiB, 2000, 0).memory },
      };
    };
    expect(decide(FIRST_STATE, figures(40, 900), ENFORCE).evictions).toEqual([]);
    expect(decide(FIRST_STATE, figures(900, 40), ENFORCE).evictions).toMatchObject([
      { signal: 'allocatableMemory.available', because: { facts: { available: '40Mi', kubeletAvailable: '900Mi' } } },
    ]);
  });
});

describe('advanceFigureComparison', () => {
  const view = (availableMiB: number, reclaimableMiB: number) => snapshot({ now: 0, availableMiB, reclaimableMiB });

  /** The kubelet's figure is that much older than the reclaimable memory. */
  function late(ageMs: number, now: number, availableMiB: number, reclaimableMiB: number) {
    const seen = snapshot({ now, availableMiB, reclaimableMiB });
    return { ...seen, readings: memoryReadings(availableMiB, 1000, now - ageMs) };
  }

  test('figures within a tenth of the capacity count as equal', () => {
    expect(advanceFigureComparison(NOT_COMPARED, view(500, 600))).toEqual({ gaps: new Map(), at: 0 });
    expect(advanceFigureComparison(NOT_COMPARED, snapshot({ now: 0, availableMiB: 10 }))).toBe(NOT_COMPARED);
  });

  test('figures of different times are not compared, and the last comparison counts for a minute', () => {
    expect(advanceFigureComparison(NOT_COMPARED, late(2001, 5000, 900, 100))).toBe(NOT_COMPARED);
    const apart = advanceFigureComparison(NOT_COMPARED, late(2000, 5000, 900, 100));
    expect(apart).toMatchObject({ gaps: { size: 1 }, at: 5000 });
    expect(advanceFigureComparison(apart, late(9000, 65_000, 500, 500))).toBe(apart);
    expect(advanceFigureComparison(apart, late(9000, 65_001, 500, 500))).toBe(NOT_COMPARED);
  });

  test.each([
    [
      200,
      700,
      'KubeletCountsCacheAsUsed',
      REASONS.cacheCountedAsUsed({ signal: 'memory.available', kubeletAvailable: '200Mi', reclaimable: '700Mi' }).text,
    ],
    [
      700,
      200,
      'KubeletMissesHeldMemory',
      REASONS.heldMemoryMissed({ signal: 'memory.available', kubeletAvailable: '700Mi', reclaimable: '200Mi' }).text,
    ],
  ])('the kubelet at %d MiB and %d MiB reclaimable is reported as %s', (availableMiB, reclaimableMiB, code, text) => {
    const { gaps } = advanceFigureComparison(NOT_COMPARED, view(availableMiB, reclaimableMiB));
    expect(gaps.get('memory.available')).toMatchObject({ code, text });
  });

  test('a reported gap ends below a twentieth, so that it is not reported repeatedly', () => {
    const apart = advanceFigureComparison(NOT_COMPARED, view(500, 650));
    expect(advanceFigureComparison(apart, view(500, 560)).gaps.size).toBe(1);
    expect(advanceFigureComparison(apart, view(500, 540)).gaps.size).toBe(0);
  });
});
