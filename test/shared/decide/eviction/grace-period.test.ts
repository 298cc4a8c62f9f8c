import { describe, expect, test } from 'vitest';
import { gracePeriodSeconds } from '#shared/decide/eviction/eviction.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';
import { policy } from '#test/agent/node-scene.ts';
import { runEpisode } from './episode.ts';

const HARD = threshold('memory.available', '1Gi');
const SOFT = threshold('memory.available', '1Gi', { grace: 30 });

describe('gracePeriodSeconds', () => {
  test.each([
    ['one second for a hard threshold', HARD, 300, 1],
    ['its own for a soft one', SOFT, 20, 20],
    ['its own up to the most', SOFT, 300, 60],
    ['the most for a pod that names none', SOFT, undefined, 60],
  ])('is %s', (_, of, terminationGracePeriodSeconds, expected) => {
    expect(gracePeriodSeconds(of, pod('p', { spec: { terminationGracePeriodSeconds } }), 60)).toBe(expected);
  });
});

test('a pod that grows keeps its own no longer than its growth allows, although another has just given memory back', () => {
  const scene = Array.from({ length: 32 }, (_, second) => {
    const [grownMiB, givenMiB] = [2 * second, second < 29 ? 0 : 60];
    const spec = { terminationGracePeriodSeconds: 3600 };
    const pods = [
      { name: 'hog', spec, usageMiB: 500 + grownMiB },
      { name: 'other', requests: { memory: '100Mi' }, usageMiB: 70 - givenMiB },
    ];
    return { now: second * 1000, availableMiB: 190 - grownMiB + givenMiB, pods };
  });
  const [eviction] = runEpisode(scene, policy({ mostGraceSeconds: 3600 })).steps.flatMap(({ evictions }) => evictions);
  // 90 are left above the hard threshold, and it takes two a second.
  expect([eviction?.pod.name, eviction?.graceSeconds]).toEqual(['hog', 45]);
});
