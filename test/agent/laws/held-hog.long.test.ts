import { expect, test } from 'vitest';
import { runAlone, runWithAgent } from './episode.ts';
import { gone, HALF_AN_HOUR_MS, quietEpisode } from './quiet-episode.ts';
import type { LawPod, PolicyChoice, Scenario } from './scenario.ts';

const HOLDS: Readonly<Record<string, readonly [hog: Partial<LawPod>, policy?: Partial<PolicyChoice>]>> = {
  'a budget': [{ fault: 'budget' }],
  'kube-system': [{ namespace: 'kube-system' }],
  'evict: never': [{ wish: 'never' }],
  'evict: last': [{ wish: 'last' }],
  'a limit of its owner': [{}, { perOwnerPerHour: 0 }],
  'a termination that hangs': [{ shutdownMs: Infinity, hangsMs: HALF_AN_HOUR_MS }],
};

/** How fast the hog grows, how important it is, and what the quiet pods use and request. */
const SIZES: readonly (readonly [growsMiB: number, priority: number, usesMiB: number, requestMiB: number])[] = [
  [0.4, -10, 60, 0],
  [15, 0, 150, 10],
  [15, 1000, 110, 100],
];

const CASES = Object.entries(HOLDS).flatMap(([why, [hog, policy]]) =>
  SIZES.map((size) => [why, ...size, hog, policy] as const),
);

function withQuiet(scene: Scenario, usesMiB: number, requestMiB: number): Scenario {
  const quiet = { requestMiB, startMiB: usesMiB, mostMiB: usesMiB };
  const before = scene.pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  const pods = scene.pods.map((pod) => (pod.name === 'hog' ? pod : { ...pod, ...quiet }));
  const after = pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  return { ...scene, pods, outsideMiB: scene.outsideMiB + before - after };
}

const NO_WITNESS = { onPass: () => undefined, onEviction: () => undefined, onTick: () => undefined };

test.each(CASES)(
  'a hog held by %s, +%d MiB/s, priority %i, beside ten pods that use %i of %i MiB costs none that the kubelet would keep',
  async (_, growsMiB, priority, usesMiB, requestMiB, hog, policy) => {
    const scenario = withQuiet(quietEpisode({ ...hog, growsMiB, priority }, policy), usesMiB, requestMiB);
    const [alone, beside] = [gone(runAlone(scenario)), gone(await runWithAgent(scenario, NO_WITNESS))];
    expect(beside.quiet).toBeLessThanOrEqual(alone.quiet);
    expect(beside.hogAtMs).toBeLessThanOrEqual(alone.hogAtMs);
  },
);
