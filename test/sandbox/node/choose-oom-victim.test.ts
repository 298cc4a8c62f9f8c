import { describe, expect, test } from 'vitest';
import { chooseOomVictim, type MemoryHolder, overLimit, scoreAdjustment } from '#sandbox/node/keep-memory.ts';

const MEBIBYTE = 1024 * 1024;
const CAPACITY = 1024 * MEBIBYTE;

function holder(
  pod: string,
  usedMi: number,
  wanted: Partial<MemoryHolder> & { readonly limit?: string } = {},
): MemoryHolder {
  const { limit, ...rest } = wanted;
  return {
    usage: {
      namespace: 'team-a',
      pod,
      podUid: pod,
      container: 'main',
      startedAt: 0,
      podStartedAt: 0,
      workingSetBytes: usedMi * MEBIBYTE,
      rssBytes: usedMi * MEBIBYTE,
      cpuNanoSeconds: 0,
      cpuNanoCores: undefined,
    },
    container: {
      name: 'main',
      image: 'demo/service',
      resources: limit === undefined ? {} : { limits: { memory: limit } },
    },
    qosClass: 'Burstable',
    priority: 0,
    ...rest,
  };
}

function asking(memory: string): Pick<MemoryHolder, 'container'> {
  return { container: { name: 'main', image: 'demo/service', resources: { requests: { memory } } } };
}

describe('scoreAdjustment follows the kubelet', () => {
  test.each([
    ['a guaranteed container', { qosClass: 'Guaranteed' }, -997],
    ['a critical pod', { priority: 2_000_000_000 }, -997],
    ['a best effort container', { qosClass: 'BestEffort' }, 1000],
    ['a container that asks for a quarter of the node', asking('256Mi'), 750],
    ['a container that asks for the whole node', asking('1Gi'), 3],
    ['a container that asks for next to nothing', asking('1'), 999],
  ])('for %s', (_who, wanted, score) => {
    expect(scoreAdjustment(holder('pod', 1, wanted), CAPACITY)).toBe(score);
  });
});

test('chooseOomVictim knows size and request but no priority', () => {
  const important = holder('important', 600, { ...asking('64Mi'), priority: 100_000 });
  const cheap = holder('cheap', 100, { ...asking('64Mi'), priority: -100 });
  expect(chooseOomVictim([cheap, important], CAPACITY)).toBe(important);
  expect(chooseOomVictim([], CAPACITY)).toBeUndefined();
});

test('overLimit finds those above their own limit, and leaves those without one', () => {
  const over = holder('over', 65, { limit: '64Mi' });
  expect(overLimit([over, holder('at', 64, { limit: '64Mi' }), holder('free', 900)])).toEqual([over]);
});
