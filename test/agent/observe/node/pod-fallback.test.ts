import { describe, expect, test } from 'vitest';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/pod-rates.ts';
import { NO_RECLAIM_RATES, NO_POD_PRESSURES } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { NodeSource, ObservedPod } from '#agent/observe/node/node-source.ts';
import { withPodFallback } from '#agent/observe/node/following-node.ts';
import { podUsage } from '#test/agent/cross-check/pod-figures.ts';
import { memoryReadings } from '#test/agent/node-scene.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { DOUBTS } from '#agent/messages.ts';

interface FakeSource extends NodeSource {
  pods: readonly PodUsage[];
}

function fakeSource(name: string, availableMiB: number): FakeSource {
  const source: FakeSource = {
    kind: 'kernel',
    pods: [],
    readNode: (nowMs) => ({
      readings: memoryReadings(availableMiB, 1000, nowMs),
      reclaimable: NO_MEMORY_READINGS,
      stalls: [],
      cpu: undefined,
      reclaim: NO_RECLAIM_RATES,
      oomKills: undefined,
    }),
    follow: () => undefined,
    usage: () => new Map(source.pods.map((pod) => [pod.uid, pod])),
    podPressures: () => NO_POD_PRESSURES,
    containers: () => [],
    groups: () => NO_GROUPS,
    whyUnmeasured: () => `cannot read ${name}: EACCES`,
    fallback: () => undefined,
    health: () => [{ name, state: 'reading', because: undefined, lastReadingAtMs: 0, durationMs: 0, failures: 0 }],
    run: () => Promise.resolve(),
    close: () => undefined,
  };
  return source;
}

function pod(uid: string, isRunning = true): ObservedPod {
  return { uid, cgroup: { uid, qos: 'Burstable' }, isRunning, containers: [] };
}

function scene() {
  const own = fakeSource('kernel', 400);
  const summary = fakeSource('kubelet-summary', 700);
  summary.pods = [podUsage('a', 7)];
  const source = withPodFallback(own, summary, manualClock());
  const bytesOfA = (nowMs: number): number | undefined => source.usage('all', nowMs).get('a')?.memory?.workingSetBytes;
  return { own, source, bytesOfA };
}

describe('withPodFallback', () => {
  test('uses the kubelet’s pod statistics once no running pod was measured for 30 s, and reports why', () => {
    const { source, bytesOfA } = scene();
    source.follow([pod('a'), pod('b')]);
    expect([0, 10_000, 29_999].map(bytesOfA)).toEqual([undefined, undefined, undefined]);
    expect(source.fallback()).toBeUndefined();
    expect(bytesOfA(30_000)).toBe(7);
    expect(source.fallback()).toEqual({
      code: 'PodsUnreadable',
      text: DOUBTS.podsUnreadable({ pods: 2, why: 'cannot read kernel: EACCES' }).text,
      facts: { pods: 2, why: 'cannot read kernel: EACCES' },
    });
    expect(source.health().map(({ name }) => name)).toEqual(['kernel', 'kubelet-summary']);
  });

  test('the node’s memory still comes from its own source', () => {
    const { source, bytesOfA } = scene();
    source.follow([pod('a')]);
    for (const nowMs of [0, 30_000]) bytesOfA(nowMs);
    expect(source.readNode(30_000).readings).toEqual(memoryReadings(400, 1000, 30_000));
  });

  test('a single measured pod ends the fallback at once', () => {
    const { own, source, bytesOfA } = scene();
    source.follow([pod('a'), pod('b')]);
    own.pods = [podUsage('b', 5)];
    for (const nowMs of [0, 40_000]) expect(bytesOfA(nowMs)).toBeUndefined();
    own.pods = [];
    for (const nowMs of [50_000, 80_000]) bytesOfA(nowMs);
    expect(source.fallback()?.code).toBe('PodsUnreadable');
    own.pods = [podUsage('a', 5)];
    expect([bytesOfA(90_000), source.fallback()]).toEqual([5, undefined]);
  });

  test('pods that have not started do not count as unmeasured', () => {
    const { source, bytesOfA } = scene();
    source.follow([pod('a', false)]);
    expect([0, 60_000].map(bytesOfA)).toEqual([undefined, undefined]);
    expect(source.fallback()).toBeUndefined();
  });
});
