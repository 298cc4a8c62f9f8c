import { describe, expect, test } from 'vitest';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';
import { type NodePod, policy } from '#test/agent/node-scene.ts';

const SEVERE = 50;
const MILD = 150;
const WIDE = { concurrent: 1, perMinute: 99, perTenMinutes: 99, perNamespacePerTenMinutes: 99 };
const rules = policy({ limits: WIDE, perOwnerPerHour: 99 });

const NAMES = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
const above = NAMES.map((name): NodePod => ({ name, requests: { memory: '10Mi' }, usageMiB: 100 }));
const within: NodePod = { name: 'within', requests: { memory: '500Mi' }, usageMiB: 400 };

/** The pods at a moment, of which the first `stuck` were evicted long ago and hold what they use. */
function at(seconds: number, availableMiB: number, pods: readonly NodePod[], stuck: number): Moment {
  const deletion = { at: 0, gracePeriodSeconds: 1 };
  const all = pods.map((pod, index) => (index < stuck ? { ...pod, deletion } : pod));
  return { now: seconds * 1000, availableMiB, pods: all };
}

/** Every seven seconds the pod that was evicted last is found stuck; passes are a second apart at first. */
function evictedInRounds(pods: readonly NodePod[], isKubeletReady: boolean, rounds: number): readonly string[] {
  const moments = Array.from({ length: rounds }, (_, round) =>
    [0, 1, 5.9].map((seconds) => at(7 * round + seconds, SEVERE, pods, round)),
  );
  const seen = moments.flat().map((moment) => ({ ...moment, snapshot: { isKubeletReady } }));
  return runEpisode(seen, rules).steps.flatMap(({ evicted }) => evicted);
}

describe('pods that outlive their grace period', () => {
  test('keep only themselves while the kubelet is ready, however many', () => {
    expect(evictedInRounds(above, true, 8)).toEqual(NAMES);
  });

  test('stop the agent at four if it is not', () => {
    expect(evictedInRounds(above, false, 8)).toEqual(NAMES.slice(0, 4));
  });

  test('move the eviction to no pod within its request', () => {
    expect(evictedInRounds([...above.slice(0, 5), within], true, 8)).toEqual(NAMES.slice(0, 5));
  });

  test('stop the mild stage at two, also while the kubelet is ready', () => {
    const moments = [
      [0, 0],
      [30, 0],
      [72, 1],
      [73, 1],
      [75, 1],
      [120, 2],
      [125, 2],
    ] as const;
    const seen = moments.map(([seconds, stuck]) => ({
      ...at(seconds, MILD, above, stuck),
      snapshot: { isKubeletReady: true },
    }));
    const { steps } = runEpisode(seen, rules);
    expect(steps.flatMap(({ evicted }) => evicted)).toEqual(['p0', 'p1']);
    expect(steps.at(-1)?.closedGates).toContain('Stuck');
  });
});
