import { expect, test } from 'vitest';
import { createNominations } from '#scheduler/extender/nominations.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { buildPod } from '#test/build/cluster.ts';

/** The nominations of one pod, as the watch shows them, at times. */
function follow() {
  let now = 0;
  const nominations = createNominations({ now: () => now });
  const snapshot = createSnapshot({ nodes: [], pods: [] });
  return {
    at: (time: number, nominatedTo: string, labels: Readonly<Record<string, string>> = {}): void => {
      now = time;
      const pod = buildPod({ name: 'p', nominatedTo, labels });
      const previous = snapshot.placedPods.get('uid-p');
      putPod(snapshot, pod);
      nominations.observe({ pod, raw: { metadata: {} }, previous }, snapshot);
    },
    idleAt: (time: number) => nominations.idleFor(snapshot.placedPods.get('uid-p') as PlacedPod, time),
  };
}

test('a nomination is as old as it is seen, however late it is asked about', () => {
  const pod = follow();
  pod.at(0, 'n0');
  expect(pod.idleAt(90_000)).toBe(90_000);
});

test('no change of the pod makes it younger', () => {
  const pod = follow();
  pod.at(0, 'n0');
  for (let second = 1; second <= 60; second += 1) pod.at(second * 1_000, 'n0', { round: String(second) });
  expect(pod.idleAt(61_000)).toBe(61_000);
});

test('nor does a nomination elsewhere and back; the one elsewhere is new', () => {
  const pod = follow();
  pod.at(0, 'n0');
  pod.at(30_000, 'n1');
  expect(pod.idleAt(30_000)).toBe(0);
  pod.at(60_000, 'n0');
  expect(pod.idleAt(61_000)).toBe(61_000);
});
