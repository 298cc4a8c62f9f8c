import { describe, expect, test } from 'vitest';
import { createResourceSeconds } from '#agent/report/resource-seconds.ts';
import { indexPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { type PodUsage, usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { nodePod } from '#test/agent/node-scene.ts';

function usageOf(uid: string, at: number, bytes: number | undefined, cpuNanoCores?: number): PodUsage {
  const none = { processCount: undefined, ioBytesPerSecond: undefined, ephemeralStorageBytes: undefined };
  return { uid, memory: { at, workingSetBytes: bytes }, cpuNanoCores, ...none, containers: [], volumes: [] };
}

function counter() {
  const metrics = createMetrics('agent');
  const count = createResourceSeconds(metrics);
  return {
    pass: (pods: readonly { uid: string; namespace?: string; className?: string }[], usages: readonly PodUsage[]) => {
      const facts = pods.map(({ uid, namespace = 'team-a', className = 'batch' }) => {
        const pod = nodePod({ uid, name: uid, namespace });
        return rankingFacts({ ...pod, spec: { ...pod.spec, priorityClassName: className } });
      });
      count({ pods: indexPods(facts), usage: usageByUid(usages) });
    },
    read: async () =>
      Object.fromEntries(
        [...(await metrics.text()).matchAll(/^plimsoll_priority_resource_seconds_total\{(.*)\} (.*)$/gm)].map(
          ([, labels = '', value]) => [labels.replaceAll(/[a-z_]+="([^"]*)"/g, '$1'), Number(value)],
        ),
      ),
  };
}

describe('resource seconds', () => {
  test('are what was measured, over the time between two readings, by namespace and class', async () => {
    const { pass, read } = counter();
    const pods = [{ uid: 'a' }, { uid: 'b' }, { uid: 'c', namespace: 'team-b', className: 'high' }];
    const usages = (at: number) => [usageOf('a', at, 100, 5e8), usageOf('b', at, 50, 25e7), usageOf('c', at, 10)];
    pass(pods, usages(0));
    pass(pods, usages(10_000));
    pass(pods, usages(12_000));
    expect(await read()).toEqual({
      'team-a,batch,memory': 150 * 12,
      'team-a,batch,cpu': 0.75 * 12,
      'team-b,high,memory': 10 * 12,
      'team-b,high,cpu': 0,
    });
  });

  test('a reading that is repeated or nearly as old adds nothing, and loses nothing', async () => {
    const { pass, read } = counter();
    for (const at of [0, 0, 300, 900, 1_500, 1_500]) pass([{ uid: 'a' }], [usageOf('a', at, 100)]);
    expect((await read())['team-a,batch,memory']).toBe(150);
  });

  test('a pod without a figure, a long gap and a pod that is new count nothing', async () => {
    const { pass, read } = counter();
    pass([{ uid: 'a' }], [usageOf('a', 0, 100)]);
    pass([{ uid: 'a' }], []);
    pass([{ uid: 'a' }], [usageOf('a', 5_000, undefined)]);
    pass([{ uid: 'a' }], [usageOf('a', 61_000, 100)]);
    pass([{ uid: 'b' }], [usageOf('b', 61_000, 100)]);
    expect(await read()).toEqual({});
  });

  test('of more than a thousand namespaces and classes the others stand together', async () => {
    const { pass, read } = counter();
    const pods = Array.from({ length: 1_002 }, (_, index) => ({ uid: `p${index}`, namespace: `n${index}` }));
    for (const at of [0, 1_000])
      pass(
        pods,
        pods.map(({ uid }) => usageOf(uid, at, 7)),
      );
    const seconds = await read();
    expect(Object.keys(seconds)).toHaveLength(2_002);
    expect(seconds[',,memory']).toBe(14);
  });
});
