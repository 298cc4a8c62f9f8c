import { describe, expect, test } from 'vitest';
import { type HeldTaking, inWhoseStead, type ShortageScene } from '#shared/domain/eviction/shortage-cause.ts';

const MIB = 1024 * 1024;
const mib = (amounts: readonly number[]): readonly number[] => amounts.map((each) => each * MIB);

/** The hog uses 500 MiB without a request, the candidate 120 of 100 MiB; 50 MiB must be freed. */
const HOG: HeldTaking = {
  standing: 'held',
  priority: 0,
  usage: 500 * MIB,
  overage: 500 * MIB,
  rank: 0,
  growth: [],
};
const CANDIDATE = { priority: 0, usage: 120 * MIB, overage: 20 * MIB, rank: 1, growth: [] as readonly number[] };
const SCENE: ShortageScene = { gap: 50 * MIB, lost: [], isLastChance: false };

interface Case {
  readonly hog?: Partial<HeldTaking>;
  readonly candidate?: Partial<typeof CANDIDATE>;
  readonly scene?: Partial<ShortageScene>;
}

function isInStead({ hog, candidate, scene }: Case): boolean {
  return inWhoseStead({ ...CANDIDATE, ...candidate }, [{ ...HOG, ...hog }], { ...SCENE, ...scene }) !== undefined;
}

const NODE_LOST = { lost: mib([100, 100, 100]) };

describe('a pod above its request goes in the stead of one that stays', () => {
  test.each<[when: string, given: Case]>([
    ['the kubelet would evict that one first, by overage', {}],
    [
      'the kubelet would evict that one first, by priority',
      { hog: { overage: 10 * MIB }, candidate: { priority: 1000 } },
    ],
    ['there is no amount to free', { scene: { gap: Infinity } }],
    ['that one is small, but it did not take the memory', { hog: { usage: 49 * MIB } }],
    ['that one alone grows', { hog: { growth: mib([0, 60, 60]), rank: 5, overage: 1 }, scene: NODE_LOST }],
    [
      'that one grew more in any window',
      { hog: { growth: mib([10, 90, 90]) }, candidate: { growth: mib([50, 50, 50]) }, scene: NODE_LOST },
    ],
    ['that one grew as much', { hog: { growth: mib([20, 20, 20]) }, candidate: { growth: mib([20, 20, 20]) } }],
    [
      'it took the memory itself, but is more important',
      { candidate: { priority: 1000, growth: mib([90, 90, 90]) }, scene: NODE_LOST },
    ],
    [
      'it grew, but is not what the node lost, and is more important',
      { candidate: { priority: 1, growth: mib([30, 30, 30]) }, scene: NODE_LOST },
    ],
    [
      'the growing one is less important, and the wish puts it last',
      { hog: { standing: 'lastWish', growth: mib([60]) } },
    ],
    [
      'the wish of one less important puts that one last',
      { hog: { standing: 'lastWish' }, candidate: { priority: 1 } },
    ],
    [
      'the wish of one less important, which is held besides, puts that one last',
      { hog: { wishesLast: true, rank: 5 }, candidate: { priority: 1000 } },
    ],
    ['the growing one belongs to a DaemonSet', { hog: { standing: 'lastOfPolicy', growth: mib([60]) } }],
    ['the owner of the growing one is at its limit', { hog: { standing: 'limited', growth: mib([60]) } }],
    ['a pod that cannot be measured may have grown', { hog: { standing: 'unknown', growth: mib([60]) } }],
    [
      'in the last chance that one grew in the last seconds',
      { hog: { growth: mib([60, 0, 0]) }, candidate: { growth: mib([50, 500, 500]) }, scene: { isLastChance: true } },
    ],
    [
      'three share the loss, and memory is not nearly gone',
      { hog: { priority: -1, growth: mib([20]) }, candidate: { growth: mib([38]) }, scene: NODE_LOST },
    ],
    [
      'in the last chance it took hardly more in the last seconds',
      {
        hog: { priority: -1, growth: mib([20]) },
        candidate: { growth: mib([27]) },
        scene: { ...NODE_LOST, isLastChance: true },
      },
    ],
    [
      'in the last chance neither took anything in the last seconds',
      {
        hog: { priority: -1, growth: mib([-20]) },
        candidate: { growth: mib([1]) },
        scene: { ...NODE_LOST, isLastChance: true },
      },
    ],
  ])('if %s', (_, given) => {
    expect(isInStead(given)).toBe(true);
  });
});

describe('a pod above its request goes in nobody’s stead', () => {
  test.each<[when: string, given: Case]>([
    ['the kubelet would evict it first, by priority', { candidate: { priority: -1 } }],
    ['the kubelet would evict it first, by overage', { candidate: { overage: 600 * MIB } }],
    ['the kubelet has no order between them', { candidate: { overage: 500 * MIB } }],
    ['the ranking of the policy puts it first', { hog: { rank: 2 } }],
    [
      'it took the memory and the other frees too little',
      { hog: { usage: 49 * MIB }, candidate: { priority: 1000, growth: mib([90, 90, 90]) }, scene: NODE_LOST },
    ],
    ['it took most of what the node lost', { candidate: { growth: mib([60, 60, 60]) }, scene: NODE_LOST }],
    [
      'something else took the memory and the other is no less important',
      { hog: { growth: mib([0, 40, 49]) }, candidate: { growth: mib([0, 41, 50]) }, scene: NODE_LOST },
    ],
    [
      'in the last chance a pod that came back hides what it took in the last seconds',
      { candidate: { priority: 5, growth: mib([40, 90, 90]) }, scene: { ...NODE_LOST, isLastChance: true } },
    ],
    [
      'both grew alike and the ranking takes it first',
      { hog: { growth: mib([20, 95, 95]), rank: 2 }, candidate: { growth: mib([20, 90, 90]) } },
    ],
    ['the wish of an equal puts that one last', { hog: { standing: 'lastWish' } }],
    ['the wish of an equal that is held puts that one last', { hog: { wishesLast: true, rank: 5 } }],
    [
      'the wish of a more important one that grows puts that one last',
      { hog: { standing: 'lastWish', priority: 5, growth: mib([60]) } },
    ],
    ['the operator ranks the other last', { hog: { standing: 'lastOfPolicy' }, candidate: { priority: 1000 } }],
    ['the owner of the other is at its limit', { hog: { standing: 'limited' } }],
    ['nothing is known about the other', { hog: { standing: 'unknown' } }],
    ['the other changed by little', { hog: { growth: mib([7]), rank: 2 } }],
    [
      'in the last chance it took the memory of the last seconds, however important it is',
      {
        hog: { growth: mib([0, 900, 900]) },
        candidate: { priority: 1000, growth: mib([90, 90, 90]) },
        scene: { ...NODE_LOST, isLastChance: true },
      },
    ],
    [
      'in the last chance three share the loss, and it took more than the one that stays',
      {
        hog: { priority: -1, growth: mib([20]) },
        candidate: { growth: mib([38]) },
        scene: { ...NODE_LOST, isLastChance: true },
      },
    ],
  ])('if %s', (_, given) => {
    expect(isInStead(given)).toBe(false);
  });

  test('unless several together would end the shortage', () => {
    const two = [HOG, { ...HOG, usage: 30 * MIB }];
    const scene = { ...SCENE, ...NODE_LOST, gap: 520 * MIB };
    const taking = { ...CANDIDATE, priority: 1000, growth: mib([90, 90, 90]) };
    expect(inWhoseStead(taking, [HOG], scene)).toBeUndefined();
    expect(inWhoseStead(taking, two, scene)).toBe(HOG);
  });
});
