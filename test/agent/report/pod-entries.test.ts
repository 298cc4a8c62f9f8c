import { describe, expect, test } from 'vitest';
import type { PodPressure } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { podEntries } from '#agent/report/pod-entries.ts';
import { type NodePod, snapshot } from '#test/agent/node-scene.ts';

const CORE = 1_000_000_000;

function entries(pods: readonly NodePod[], pressures: Readonly<Record<string, Partial<PodPressure>>> = {}) {
  const podPressures = new Map(
    Object.entries(pressures).map(([name, each]) => [`uid-${name}`, { waiting: {}, stalled: {}, ...each }]),
  );
  return podEntries(snapshot({ now: 0, pods, snapshot: { podPressures } }));
}

describe('podEntries', () => {
  test('names pods that wait or were killed, and those beyond their requests, with their figures', () => {
    const pods = [
      { name: 'waits', requests: { cpu: '1', memory: '100Mi' }, usageMiB: 50, cpuNanoCores: CORE / 4 },
      { name: 'hog', requests: { cpu: '1', memory: '100Mi' }, usageMiB: 300, cpuNanoCores: CORE / 2 },
      { name: 'busy', requests: { cpu: '1', memory: '100Mi' }, usageMiB: 50, cpuNanoCores: 2.5 * CORE },
      { name: 'calm', requests: { cpu: '1', memory: '100Mi' }, usageMiB: 50, cpuNanoCores: CORE },
    ];
    expect(
      entries(pods, {
        waits: { waiting: { cpu: 0.634, memory: 0.01 }, oomKills: 2 },
        calm: { waiting: { cpu: 0.04 } },
      }),
    ).toEqual([
      {
        pod: 'default/waits',
        uid: 'uid-waits',
        cpu: '250m',
        memory: '50Mi',
        oomKills: 2,
        waiting: { cpu: 63, memory: 1, io: undefined },
      },
      { pod: 'default/busy', uid: 'uid-busy', cpu: '2500m', memory: '50Mi', waiting: {}, oomKills: undefined },
      { pod: 'default/hog', uid: 'uid-hog', cpu: '500m', memory: '300Mi', waiting: {}, oomKills: undefined },
    ]);
  });

  test.each<[string, Partial<PodPressure>, object]>([
    ['cpu, at its own limit of cpu', { throttled: 0.5 }, { cpu: undefined, memory: 80, io: 70 }],
    [
      'memory and io, at its own limit of memory',
      { limitHitsPerSecond: 3 },
      { cpu: 90, memory: undefined, io: undefined },
    ],
  ])('waiting for %s is no other pod’s doing', (_, limits, expected) => {
    const waiting = { cpu: 0.9, memory: 0.8, io: 0.7 };
    expect(entries([{ name: 'a' }], { a: { waiting, ...limits } })[0]?.waiting).toEqual(expected);
  });

  test('a pod whose figures another source contradicts uses nothing that is known', () => {
    const seen = snapshot({ now: 0, pods: [{ name: 'a', usageMiB: 50 }] });
    const doubt = { theirsBytes: 1, because: { code: 'x', text: 'x', facts: {} } };
    expect(podEntries(seen)).toHaveLength(1);
    expect(podEntries({ ...seen, doubtfulPods: new Map([['uid-a', doubt]]) })).toEqual([]);
  });

  test('names at most twenty, and the largest of each', () => {
    const names = Array.from({ length: 60 }, (_, n) => `p${String(n).padStart(2, '0')}`);
    const pods = names.map((name, n) => ({
      name,
      ...(n < 20 && { usageMiB: n + 1 }),
      ...(n >= 20 && n < 40 && { usageMiB: 0, cpuNanoCores: n * CORE }),
    }));
    const pressures = Object.fromEntries(names.slice(40).map((name, n) => [name, { waiting: { io: (n + 6) / 100 } }]));
    const found = entries(pods, pressures).map(({ pod }) => pod.slice('default/'.length));
    expect(found).toEqual([
      ...names.slice(50).toReversed(),
      ...names.slice(35, 40).toReversed(),
      ...names.slice(15, 20).toReversed(),
    ]);
  });
});
