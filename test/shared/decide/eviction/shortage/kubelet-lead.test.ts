import { describe, expect, test } from 'vitest';
import {
  advanceKubeletLead,
  type KubeletLead,
  kubeletLeadGate,
  NO_LEAD,
} from '#shared/decide/eviction/shortage/kubelet-lead.ts';
import type { CurrentShortage } from '#shared/decide/eviction/shortage/passing-shortages.ts';
import { type Scene } from '#test/agent/node-scene.ts';
import { run } from '#test/shared/decide/eviction/run-scenes.ts';

const SECOND = 1000;
const MIB = 1024 * 1024;

/** One pass each: second, whether the kubelet reports MemoryPressure, whether a threshold of the policy is crossed. */
type Pass = readonly [second: number, hasMemoryPressure: boolean, isCrossed: boolean];

function advance(...passes: readonly Pass[]): KubeletLead {
  return passes.reduce(
    (lead, [second, hasMemoryPressure, isCrossed]) =>
      advanceKubeletLead(lead, { now: second * SECOND, hasMemoryPressure }, isCrossed),
    NO_LEAD,
  );
}

function below(sinceSecond: number, lowestMiB: number): CurrentShortage {
  return { since: sinceSecond * SECOND, lowest: lowestMiB * MIB, usedAtLowest: new Map(), oomKills: 0 };
}

function codeAt(second: number, lead: KubeletLead, current?: CurrentShortage): string | undefined {
  const stage = current === undefined ? 'mild' : 'severe';
  return kubeletLeadGate(stage, lead, { current, now: second * SECOND })?.code;
}

describe('the kubelet leads', () => {
  const leading = advance([0, false, false], [1, true, false]);

  test.each<[why: string, lead: KubeletLead, expected: string | undefined]>([
    ['if its condition came before any threshold of the policy', leading, 'KubeletLeads'],
    ['not if its condition was there when the agent started', advance([0, true, false]), undefined],
    ['not if a threshold was crossed shortly before', advance([0, false, true], [29, true, false]), undefined],
    ['if one was crossed long before', advance([0, false, true], [30, true, false]), 'KubeletLeads'],
    ['not after its condition has gone', advance([0, false, false], [1, true, false], [2, false, false]), undefined],
  ])('%s', (_, lead, expected) => {
    expect(codeAt(40, lead)).toBe(expected);
  });

  test('for five minutes: a soft threshold of the policy that is crossed later waits for so long', () => {
    expect(codeAt(300, leading)).toBe('KubeletLeads');
    expect(codeAt(301, leading)).toBeUndefined();
  });

  test('for one look below a hard threshold, and not where its usual hard threshold is met', () => {
    expect(codeAt(59, leading, below(50, 120))).toBe('KubeletLeads');
    expect(codeAt(60, leading, below(50, 120))).toBeUndefined();
    expect(codeAt(51, leading, below(50, 99))).toBeUndefined();
  });
});

test('no pod is evicted by a soft threshold below that of the kubelet', () => {
  const hog = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 300 };
  const at = (second: number, availableMiB: number, hasMemoryPressure: boolean): Scene => ({
    now: second * SECOND,
    availableMiB,
    pods: [hog],
    snapshot: { hasMemoryPressure },
  });
  const evictedWith = (hasMemoryPressure: boolean): readonly string[] =>
    run([
      at(0, 500, false),
      at(1, 300, hasMemoryPressure),
      at(2, 150, hasMemoryPressure),
      at(40, 150, hasMemoryPressure),
    ])
      .steps.slice(-1)
      .map(({ evicted: [name], closedGates }) => name ?? closedGates.join(','));
  expect(evictedWith(false)).toEqual(['hog']);
  expect(evictedWith(true)).toEqual(['KubeletLeads']);
});
