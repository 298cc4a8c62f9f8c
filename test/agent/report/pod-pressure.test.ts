import { describe, expect, test } from 'vitest';
import { createMetrics } from '#shared/runtime/metrics.ts';
import type { PodPressure } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { withPodPressure } from '#agent/report/node-pressure-status.ts';
import { createPodPressureMetrics } from '#agent/report/pod-pressure-metrics.ts';
import { because, snapshot } from '#test/agent/node-scene.ts';
import { OWN_LIMITS } from '#agent/messages.ts';

const quiet: PodPressure = { waiting: { memory: 0, cpu: 0.004 }, stalled: { memory: 0 }, throttled: 0 };
const thrashing: PodPressure = {
  waiting: { memory: 0.162, cpu: 0.02 },
  stalled: { memory: 0.15 },
  limitHits: 121_061,
  limitHitsPerSecond: 400.25,
  oomKills: 4,
  throttled: 0.5,
};

describe('withPodPressure', () => {
  test('reports that a pod is at its own limits', () => {
    expect(withPodPressure(because('Ranked'), thrashing)).toEqual({
      code: 'Ranked',
      text: `Ranked; ${OWN_LIMITS.memory(400.25)}; ${OWN_LIMITS.cpu(50)}`,
      facts: {
        memoryWaiting: 0.162,
        memoryStalled: 0.15,
        cpuWaiting: 0.02,
        memoryLimitHits: 121_061,
        oomKills: 4,
        cpuThrottled: 0.5,
      },
    });
  });

  test('describes a pod below its limits by its figures alone, and an unmeasured one not at all', () => {
    expect(withPodPressure(because('Ranked'), quiet)).toEqual({
      code: 'Ranked',
      text: 'Ranked',
      facts: { memoryWaiting: 0, memoryStalled: 0, cpuWaiting: 0.004, cpuThrottled: 0 },
    });
    expect(withPodPressure(because('Ranked'), undefined)).toEqual(because('Ranked'));
  });
});

describe('createPodPressureMetrics', () => {
  const NAMES = Array.from({ length: 30 }, (_, index) => `p${String(index).padStart(2, '0')}`);

  async function shown(podPressureOf: (index: number) => PodPressure): Promise<string[]> {
    const metrics = createMetrics('agent');
    const podPressures = new Map(NAMES.map((name, index) => [`uid-${name}`, podPressureOf(index)]));
    const seen = snapshot({ now: 0, pods: NAMES.map((name) => ({ name })) });
    const show = createPodPressureMetrics(metrics);
    show({ ...seen, podPressures });
    show({ ...seen, podPressures });
    return (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_pod'));
  }

  test('shows the ten pods under the highest pressure, those at their memory limit first, and counts the rest', async () => {
    const lines = await shown((index) => (index === 3 ? thrashing : { waiting: { cpu: index / 100 }, stalled: {} }));
    expect(lines).toContain('plimsoll_pods_at_own_limit{resource="memory"} 1');
    expect(lines).toContain('plimsoll_pods_at_own_limit{resource="cpu"} 1');
    expect(lines).toContain('plimsoll_pod_memory_limit_hits_total{namespace="default",pod="p03"} 121061');
    expect(lines).toContain('plimsoll_pod_oom_kills_total{namespace="default",pod="p03"} 4');
    expect(lines).toContain('plimsoll_pod_cpu_throttled_ratio{namespace="default",pod="p03"} 0.5');
    const waiting = lines.filter((line) => line.includes('resource="cpu",kind="waiting"'));
    expect(waiting.map((line) => /pod="(\w+)"/.exec(line)?.[1]).toSorted()).toEqual(['p03', ...NAMES.slice(21)]);
  });

  test('a pod without stalls but with an OOM kill has a series', async () => {
    const lines = await shown((index) => (index === 3 ? { ...quiet, oomKills: 1 } : quiet));
    expect(lines).toContain('plimsoll_pod_oom_kills_total{namespace="default",pod="p03"} 1');
    expect(lines.filter((line) => line.includes('pod="p04"'))).toEqual([]);
  });

  test('a pod without stalls has no series', async () => {
    expect(await shown(() => quiet)).toEqual([
      'plimsoll_pods_at_own_limit{resource="memory"} 0',
      'plimsoll_pods_at_own_limit{resource="cpu"} 0',
    ]);
  });
});
