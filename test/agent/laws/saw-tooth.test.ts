import { describe, expect, test } from 'vitest';
import { runAlone, runWithAgent, UNWATCHED } from './episode.ts';
import type { LawNode } from './node.ts';
import { quietEpisode } from './quiet-episode.ts';
import type { Scenario } from './scenario.ts';

/**
 * A pod inside its request takes 1,300 MiB and gives them back, again and again, beside ten pods slightly above theirs.
 * The kubelet, which looks every ten seconds, finds more than its threshold each time.
 */
function episode(roundSeconds: number, lowestMiB: number): Scenario {
  const tooth = { requestMiB: 2048, priority: 0, startMiB: 200, mostMiB: 1500, isSawTooth: true } as const;
  const scene = quietEpisode({ ...tooth, growsMiB: 1300 / (roundSeconds - 1) });
  const pods = scene.pods.map((pod) => (pod.isSawTooth === true ? pod : { ...pod, requestMiB: 10, startMiB: 20 }));
  const outsideMiB = scene.capacityMiB - 10 * 20 - 1500 - lowestMiB;
  return { ...scene, pods, outsideMiB, policy: { ...scene.policy, softMiB: undefined } };
}

/** When the agent evicted pods. */
function goneAt({ pods }: LawNode): readonly number[] {
  return pods.flatMap(({ acceptedAtMs }) => acceptedAtMs ?? []);
}

describe('a shortage that ends by itself again and again', () => {
  test.each([
    [10, 130],
    [10, 200],
    [15, 130],
    [20, 130],
    [20, 101],
    [40, 110],
  ])('every %i s, down to %i MiB, costs no pod', async (roundSeconds, lowestMiB) => {
    const scenario = episode(roundSeconds, lowestMiB);
    expect(runAlone(scenario).events).toEqual([]);
    const node = await runWithAgent(scenario, UNWATCHED);
    expect(goneAt(node)).toEqual([]);
    expect(node.oomKills).toBe(0);
  });

  test.each([
    [10, 60],
    [20, 20],
  ])('every %i s, down to %i MiB, costs pods only before it is known', async (roundSeconds, lowestMiB) => {
    const node = await runWithAgent(episode(roundSeconds, lowestMiB), UNWATCHED);
    expect(Math.max(...goneAt(node))).toBeLessThan(2 * roundSeconds * 1000 + 1000);
    expect(goneAt(node).length).toBeLessThanOrEqual(3);
    expect(node.oomKills).toBe(0);
  });

  test('costs pods if it lasts, although the pod that took the memory keeps to its request', async () => {
    const scene = episode(20, 130);
    const pods = scene.pods.map((pod) => ({ ...pod, isSawTooth: false }));
    const [first = 0] = goneAt(await runWithAgent({ ...scene, pods }, UNWATCHED));
    expect(first).toBeGreaterThan(17_000);
    expect(first).toBeLessThan(30_000);
  });
});
