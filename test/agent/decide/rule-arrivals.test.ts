import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#agent/decide/agent-state.ts';
import { recallArrivals, unconfirmedRules } from '#agent/decide/rule-arrivals.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import { DEFAULT_STALL_RULES } from '#agent/policy/policy.ts';
import { STILL_WINDOW_MS } from '#agent/policy/stall-rule.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { because, MIB, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode, whoWent } from './episode.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', requests: { memory: '10Mi' }, usageMiB: 60 };

function rules(generation: number, hard: string, changes: Partial<AgentPolicy> = {}): AgentPolicy {
  const parsed = parseThresholds({ evictionHard: { 'memory.available': hard } });
  return policy({ name: 'batch', generation, thresholds: parsed.ok ? parsed.thresholds : [], ...changes });
}

function at(now: number, availableMiB: number, more: Partial<Moment> = {}): Moment {
  return { now, availableMiB, pods: [hog, small], ...more };
}

/** A policy that was quiet, then one with a threshold above what is left: so little that no second look is needed. */
const calm = at(0, 110, { policy: rules(1, '50Mi') });
const tooHigh = rules(2, '300Mi');
const arrives = at(1000, 110, { policy: tooHigh });

describe('a threshold that is met when it arrives', () => {
  test('is reported and not enforced', () => {
    const { steps, state } = runEpisode([calm, arrives, at(2000, 110), at(400_000, 110)]);
    expect(steps.map(({ evicted }) => evicted)).toEqual([[], ['hog (dry run)'], [], ['hog (dry run)']]);
    expect(unconfirmedRules(state.arrivals)).toMatchObject({
      code: 'MetOnArrival',
      text: expect.stringContaining('was met already when policy batch brought it') as string,
      facts: { policy: 'batch', generation: 2, waiting: 1 },
    });
  });

  test('counts as met while it waits for a second look', () => {
    const moments = [at(0, 500, { policy: rules(1, '50Mi') }), at(1000, 500, { policy: rules(2, '900Mi') })];
    expect(whoWent([...moments, at(2000, 500), at(3000, 500)])).toEqual([[], [], ['hog (dry run)'], []]);
  });

  test('is enforced once it was relieved and is met again', () => {
    expect(whoWent([calm, arrives, at(2000, 310), at(3000, 110)])).toEqual([[], ['hog (dry run)'], [], ['hog']]);
  });

  test('is enforced after a second change of its policy', () => {
    const again = at(2000, 110, { policy: rules(3, '300Mi') });
    expect(whoWent([calm, arrives, again])).toEqual([[], ['hog (dry run)'], ['hog']]);
  });

  test('is enforced once its generation is confirmed, and by no other number', () => {
    const confirmed = (confirmedGeneration: number): Moment =>
      at(2000, 110, { policy: { ...tooHigh, confirmedGeneration } });
    expect(whoWent([calm, arrives, confirmed(1)])).toEqual([[], ['hog (dry run)'], []]);
    expect(whoWent([calm, arrives, confirmed(2)])).toEqual([[], ['hog (dry run)'], ['hog']]);
    expect(whoWent([calm, { ...confirmed(2), now: 1000 }])).toEqual([[], ['hog']]);
  });

  test('is not confirmed by another policy with the same threshold', () => {
    const other = at(2000, 110, { policy: rules(9, '300Mi', { name: 'other' }) });
    expect(whoWent([calm, arrives, other])).toEqual([[], ['hog (dry run)'], []]);
  });

  test('waits for itself alone: what was there before goes on', () => {
    const both = parseThresholds({
      evictionHard: { 'memory.available': '100Mi' },
      evictionSoft: { 'memory.available': '900Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1s' },
    });
    const arriving = at(1000, 500, { policy: rules(2, '', { thresholds: both.ok ? both.thresholds : [] }) });
    const { steps } = runEpisode([calm, arriving, at(3000, 500), at(4000, 50)]);
    expect(steps.map(({ evicted }) => evicted)).toEqual([[], [], ['hog (dry run)'], ['hog']]);
  });
});

describe('an agent that was started again', () => {
  const predecessor = [
    { rule: 'memory.available < 950Mi', isConfirmed: true, policy: 'batch', generation: 1 },
    { rule: tooHigh.thresholds[0]?.id ?? '', isConfirmed: false, policy: 'batch', generation: 2 },
  ];
  const starting = (now: number, rules: AgentPolicy): Moment =>
    at(now, 110, { policy: rules, look: { holds: [because('WarmingUp')] } });

  test('goes on to wait where its predecessor did', () => {
    const from = { ...FIRST_STATE, arrivals: recallArrivals(predecessor) };
    const defaults = policy({ mode: 'DryRun', thresholds: [] });
    const moments = [starting(0, defaults), starting(1000, tooHigh), at(2000, 110)];
    expect(runEpisode(moments, tooHigh, from).steps.map(({ evicted }) => evicted)).toEqual([[], [], ['hog (dry run)']]);
  });

  test('that has no predecessor takes what it finds as there before', () => {
    const defaults = policy({ mode: 'DryRun', thresholds: [] });
    const moments = [starting(0, defaults), starting(1000, tooHigh), at(2000, 110)];
    expect(whoWent(moments)).toEqual([[], [], ['hog']]);
    expect(recallArrivals(undefined)).toBeUndefined();
  });
});

describe('what may act at once', () => {
  test('a threshold that was there when the agent began', () => {
    expect(whoWent([arrives])).toEqual([['hog']]);
  });

  test('a threshold that is not met when it arrives', () => {
    expect(whoWent([calm, at(1000, 310, { policy: tooHigh }), at(2000, 110)])).toEqual([[], [], ['hog']]);
  });

  test('a policy that goes from DryRun to Enforce in a shortage', () => {
    const dry = at(1000, 110, { policy: { ...tooHigh, mode: 'DryRun' } });
    expect(whoWent([calm, dry, at(2000, 110, { policy: rules(3, '300Mi') })])).toEqual([
      [],
      ['hog (dry run)'],
      ['hog'],
    ]);
  });
});

test('a stall rule that is met when it arrives is reported and not enforced', () => {
  const stalls = [STILL_WINDOW_MS, 10_000, 60_000].map((windowMs) => ({
    ...{ signal: 'memory.pressure', share: 'full', windowMs, ratio: 0.9 },
  })) as NonNullable<Moment['look']>['stalls'];
  const none = rules(1, '1Mi', { stallRules: [] });
  const [memory] = DEFAULT_STALL_RULES;
  const waiting = at(1000, 90, { policy: rules(2, '1Mi', { stallRules: memory ? [memory] : [] }) });
  const moments = [at(0, 90, { policy: none }), waiting].map((moment) => ({
    ...moment,
    look: { stalls, reclaim: { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 } } as Moment['look'],
  }));
  expect(whoWent(moments as readonly Moment[])).toEqual([[], ['hog (dry run)']]);
});

test('a state without arrivals has nothing that waits', () => {
  expect(unconfirmedRules(FIRST_STATE.arrivals)).toBeUndefined();
});
