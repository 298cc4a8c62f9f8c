import { expect, test } from 'vitest';
import { runAlone, runWithAgent, UNWATCHED } from './episode.ts';
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
const SIZES = [
  { growsMiB: 0.4, priority: -10, usesMiB: 60, requestMiB: 0 },
  { growsMiB: 15, priority: 0, usesMiB: 150, requestMiB: 10 },
  { growsMiB: 15, priority: 1000, usesMiB: 110, requestMiB: 100 },
];

const CASES = Object.entries(HOLDS).flatMap(([why, [hog, policy]]) =>
  SIZES.map((size) => ({ why, ...size, hog, policy })),
);

function withQuiet(scene: Scenario, usesMiB: number, requestMiB: number): Scenario {
  const quiet = { requestMiB, startMiB: usesMiB, mostMiB: usesMiB };
  const before = scene.pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  const pods = scene.pods.map((pod) => (pod.name === 'hog' ? pod : { ...pod, ...quiet }));
  const after = pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  return { ...scene, pods, outsideMiB: scene.outsideMiB + before - after };
}

test.each(CASES)(
  'a hog held by $why, +$growsMiB MiB/s, priority $priority, beside ten pods that use $usesMiB of $requestMiB MiB costs none that the kubelet would keep',
  async ({ growsMiB, priority, usesMiB, requestMiB, hog, policy }) => {
    const scenario = withQuiet(quietEpisode({ ...hog, growsMiB, priority }, policy), usesMiB, requestMiB);
    const [alone, beside] = [gone(runAlone(scenario)), gone(await runWithAgent(scenario, UNWATCHED))];
    expect(beside.quiet).toBeLessThanOrEqual(alone.quiet);
    expect(beside.hogAtMs).toBeLessThanOrEqual(alone.hogAtMs);
  },
);
