import { describe, expect, test } from 'vitest';
import { abortReason } from '#shared/decide/eviction/eviction.ts';
import {
  type Mode,
  type AgentPolicy,
  DEFAULT_STALL_RULES,
  STILL_WINDOW_MS,
  type StallRule,
} from '#shared/api/node-pressure-policy/policy.ts';
import { because, snapshot, MIB, type NodePod, nodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const USUAL = DEFAULT_STALL_RULES.filter(({ signal }) => signal === 'memory.pressure');

/** A rule for memory that asks for this share of both windows. */
function rules(...given: readonly (readonly [ratio: number, mode: Mode])[]): AgentPolicy {
  const stallRules = given.flatMap(([ratio, mode]) =>
    USUAL.map((rule): StallRule => {
      const limit = (windowMs: number) => ({ windowMs, ratio });
      return { ...rule, short: limit(10_000), long: limit(60_000), mode };
    }),
  );
  return policy({ thresholds: [], stallRules });
}

function waiting(ratio: number): Moment {
  const stalls = [STILL_WINDOW_MS, 10_000, 60_000].map((windowMs) => ({
    signal: 'memory.pressure' as const,
    share: 'full' as const,
    windowMs,
    ratio,
  }));
  const reclaim = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };
  return { now: 0, availableMiB: 45, pods: [hog], snapshot: { stalls, reclaim } };
}

function whoGoes(ratio: number, inForce: AgentPolicy): readonly string[] {
  return runEpisode([waiting(ratio)], inForce).steps.flatMap(({ evicted }) => evicted);
}

describe('two rules for one signal', () => {
  const early = [0.2, 'DryRun'] as const;
  const late = [0.8, 'Enforce'] as const;

  test.each([
    ['early first', rules(early, late)],
    ['late first', rules(late, early)],
  ])('are met apart, each in its own mode: %s', (_, inForce) => {
    expect(whoGoes(0.1, inForce)).toEqual([]);
    expect(whoGoes(0.5, inForce)).toEqual(['hog (dry run)']);
    expect(new Set(whoGoes(0.9, inForce))).toEqual(new Set(['hog', 'hog (dry run)']));
  });

  test('stay distinct in the preflight: one set to DryRun stops only its own evictions', () => {
    const [decided] = runEpisode([waiting(0.9)], rules(early, late)).steps.flatMap(({ evictions }) =>
      evictions.filter(({ mode }) => mode === 'Enforce'),
    );
    const fresh = { kind: 'found', pod: nodePod(hog), namespace: 'open' } as const;
    const stopped = (now: AgentPolicy) =>
      decided && abortReason(decided, { fresh, view: snapshot(waiting(0.9)) }, now)?.kind;
    expect(decided?.pod.name).toBe('hog');
    expect(stopped(rules(early, late))).toBeUndefined();
    expect(stopped(rules([0.2, 'Enforce'], [0.8, 'DryRun']))).toBe('disarmed');
  });
});

test('a doubt about memory holds back the rule for memory', () => {
  const moment = waiting(0.9);
  const doubts = new Map([['memory.available', because('SourcesDisagree')]] as const);
  const { steps } = runEpisode([{ ...moment, snapshot: { ...moment.snapshot, doubts } }], rules([0.2, 'Enforce']));
  expect(steps).toMatchObject([{ evicted: [], closedGates: ['SourcesDisagree'] }]);
  expect(whoGoes(0.9, rules([0.2, 'Enforce']))).toEqual(['hog']);
});
