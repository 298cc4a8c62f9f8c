import { describe, expect, test } from 'vitest';
import { advanceUnmeasured, noStatistics } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { snapshot, type NodePod } from '#test/agent/node-scene.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

const silent: NodePod = { name: 'silent' };
const measured: NodePod = { name: 'measured', usageMiB: 5 };
const waiting: NodePod = { name: 'waiting', phase: 'Pending' };

/** Times at which missing statistics are reported for a node observed every ten seconds, in milliseconds. */
function saidAt(podsAt: (nowMs: number) => readonly NodePod[]): readonly number[] {
  let since: number | undefined;
  return Array.from({ length: 8 }, (_, index) => index * 10_000).filter((now) => {
    const seen = snapshot({ now, availableMiB: 500, pods: podsAt(now) });
    since = advanceUnmeasured(since, seen);
    return noStatistics(since, seen) !== undefined;
  });
}

describe('noStatistics', () => {
  test.each<[sentence: string, podsAt: (nowMs: number) => readonly NodePod[], expected: readonly number[]]>([
    ['no running pod has any for 30 s', () => [silent, waiting], [30_000, 40_000, 50_000, 60_000, 70_000]],
    ['one of them has', () => [silent, measured], []],
    ['none runs yet', () => [waiting], []],
    ['there are no pods', () => [], []],
    ['it starts over after one that had', (now) => (now === 30_000 ? [measured] : [silent]), [70_000]],
  ])('%s', (_sentence, podsAt, expected) => {
    expect(saidAt(podsAt)).toEqual(expected);
  });

  test('statistics of pods that are not on the node do not count', () => {
    const { usage } = snapshot({ now: 0, pods: [measured] });
    const seen = snapshot({ now: 0, availableMiB: 500, pods: [silent], snapshot: { usage } });
    expect(advanceUnmeasured(undefined, seen)).toBe(0);
  });

  test('reports how many pods, and what to check', () => {
    const seen = snapshot({ now: 30_000, availableMiB: 500, pods: [silent, waiting] });
    expect(noStatistics(0, seen)).toMatchObject({
      code: 'NoPodStatistics',
      text: REASONS.noPodStatistics({ pods: 1, seconds: 30 }).text,
      facts: { pods: 1, seconds: 30 },
    });
  });
});
