import { describe, expect, test } from 'vitest';
import { runAlone, runWithAgent } from './episode.ts';
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

const NO_WITNESS = { onPass: () => undefined, onEviction: () => undefined, onTick: () => undefined };

describe('a shortage that ends by itself again and again', () => {
  test.each([
    [10, 130],
    [10, 200],
    [15, 130],
    [20, 130],
    [20, 101],
  ])('every %i s, down to %i MiB, costs pods only before it is known', async (roundSeconds, lowestMiB) => {
    const scenario = episode(roundSeconds, lowestMiB);
    expect(runAlone(scenario).events).toEqual([]);
    const node = await runWithAgent(scenario, NO_WITNESS);
    const gone = node.pods.filter(({ acceptedAtMs }) => acceptedAtMs !== undefined);
    expect(gone.every(({ acceptedAtMs = 0 }) => acceptedAtMs < 2 * roundSeconds * 1000 + 1000)).toBe(true);
    expect(node.oomKills).toBe(0);
  });
});
