import { describe, expect, test } from 'vitest';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { restoreActivations, unconfirmedRules } from '#shared/decide/eviction/shortage/rule-activation.ts';
import {
  type AgentPolicy,
  STILL_WINDOW_MS,
  type StallRatio,
  DEFAULT_STALL_RULES,
} from '#shared/api/node-pressure-policy/policy.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { because, memoryReadings, MIB, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', requests: { memory: '10Mi' }, usageMiB: 60 };

function rules(generation: number, hard: string, changes: Partial<AgentPolicy> = {}): AgentPolicy {
  const parsed = parseThresholds({ evictionHard: { 'memory.available': hard } });
  return policy({ name: 'batch', generation, thresholds: parsed.ok ? parsed.thresholds : [], ...changes });
}

/** Two passes a second apart, which a hard memory threshold needs; steps of an episode are seconds apart. */
function at(seconds: number, availableMiB: number, more: Partial<Moment> = {}): Moment {
  return { now: seconds * 1000, availableMiB, pods: [hog, small], ...more };
}

function episode(moments: readonly Moment[], ...given: [usual?: AgentPolicy, from?: AgentState]) {
  const looks = moments.flatMap((moment) => [moment, { ...moment, now: moment.now + 1000 }]);
  const { steps, state } = runEpisode(looks, ...given);
  const evicted = moments.map((_, index) => steps.slice(2 * index, 2 * index + 2).flatMap((step) => step.evicted));
  return { evicted, state };
}

function whoWent(moments: readonly Moment[]): readonly (readonly string[])[] {
  return episode(moments).evicted;
}

/** A policy that was quiet, then one with a threshold above what is left. */
const calm = at(0, 500, { policy: rules(1, '100Mi') });
const tooHigh = rules(2, '900Mi');
const arrives = at(5, 500, { policy: tooHigh });

describe('a threshold that is met when it comes into force', () => {
  test('is reported and not enforced', () => {
    const { evicted, state } = episode([calm, arrives, at(10, 500), at(400, 500)]);
    expect(evicted).toEqual([[], ['hog (dry run)'], [], ['hog (dry run)']]);
    const waiting = {
      rule: 'memory.available < 900Mi for 0 s reclaim nothing',
      policy: 'batch',
      generation: 2,
      waiting: 1,
      seconds: 300,
      kept: 'memory.available < 100Mi for 0 s reclaim nothing',
    };
    expect(unconfirmedRules(state, tooHigh)).toEqual(REASONS.metOnArrival(waiting, waiting));
  });

  test('is enforced once it has not been met for the transition period, and by no shorter relief', () => {
    const relieved = (...seconds: readonly number[]): readonly Moment[] => seconds.map((each) => at(each, 950));
    expect(whoWent([calm, arrives, at(10, 950), at(15, 500)])).toEqual([[], ['hog (dry run)'], [], []]);
    const twice = [...relieved(10, 200), at(210, 850), ...relieved(220, 400), at(515, 500)];
    expect(whoWent([calm, arrives, ...twice]).flat()).toEqual(['hog (dry run)', 'hog (dry run)']);
    expect(whoWent([calm, arrives, ...relieved(10, 200, 312), at(320, 500)]).at(-1)).toEqual(['hog']);
  });

  test('is not relieved while nothing is measured', () => {
    const blind = [100, 200, 310].map((seconds) => ({ ...at(seconds, 0), availableMiB: undefined }));
    const moments = [calm, arrives, at(10, 950), ...blind, at(320, 950), at(330, 500)];
    expect(whoWent(moments).flat()).toEqual(['hog (dry run)', 'hog (dry run)']);
  });

  test('is enforced after a second change of its policy', () => {
    const again = at(10, 500, { policy: rules(3, '900Mi') });
    expect(whoWent([calm, arrives, again])).toEqual([[], ['hog (dry run)'], ['hog']]);
  });

  test('leaves the confirmed threshold before it in force', () => {
    const { evicted } = episode([calm, arrives, at(10, 90)]);
    expect(evicted).toEqual([[], ['hog (dry run)'], ['hog']]);
    const second = at(10, 500, { policy: rules(2, '950Mi') });
    expect(whoWent([calm, arrives, second, at(20, 90)]).at(-1)).toContain('hog');
  });

  test('leaves a confirmed threshold in force only as its policy used it', () => {
    const dry = at(0, 500, { policy: rules(1, '400Mi', { mode: 'DryRun' }) });
    expect(whoWent([dry, arrives, at(400, 300)])).toEqual([[], ['hog (dry run)'], ['hog (dry run)']]);
    expect(whoWent([dry, arrives, at(400, 240)]).at(-1)).toContain('hog');
  });

  test('is not what a lower threshold is: whoever asks for less is heard at once', () => {
    const eager = at(0, 950, { policy: rules(1, '900Mi') });
    const lower = at(5, 300, { policy: rules(2, '400Mi') });
    const lowest = at(5, 300, { policy: rules(2, '200Mi') });
    expect(whoWent([eager, lower])).toEqual([[], ['hog']]);
    expect(whoWent([eager, lowest, at(20, 300)]).at(-1)).toEqual([]);
  });

  test('is enforced once its generation is confirmed, and by no other number', () => {
    const confirmed = (confirmedGeneration: number): Moment =>
      at(10, 500, { policy: { ...tooHigh, confirmedGeneration } });
    expect(whoWent([calm, arrives, confirmed(1)])).toEqual([[], ['hog (dry run)'], []]);
    expect(whoWent([calm, arrives, confirmed(2)])).toEqual([[], ['hog (dry run)'], ['hog']]);
    expect(whoWent([calm, { ...confirmed(2), now: 5000 }])).toEqual([[], ['hog']]);
  });

  test('is not confirmed by another policy with the same threshold', () => {
    const other = at(10, 500, { policy: rules(9, '900Mi', { name: 'other' }) });
    expect(whoWent([calm, arrives, other])).toEqual([[], ['hog (dry run)'], []]);
  });

  test('does not affect thresholds that were in force before', () => {
    const both = parseThresholds({
      evictionHard: { 'memory.available': '100Mi' },
      evictionSoft: { 'memory.available': '900Mi' },
      evictionSoftGracePeriod: { 'memory.available': '1s' },
    });
    const arriving = at(5, 500, { policy: rules(2, '', { thresholds: both.ok ? both.thresholds : [] }) });
    const { evicted } = episode([calm, arriving, at(15, 500), at(20, 50)]);
    expect(evicted).toEqual([[], ['hog (dry run)'], [], ['hog']]);
  });
});

describe('a restarted agent', () => {
  const predecessor = [
    {
      rule: 'memory.available < 100Mi for 0 s reclaim nothing',
      mode: 'Enforce' as const,
      isConfirmed: true,
      policy: 'batch',
      generation: 1,
    },
    { rule: tooHigh.thresholds[0]?.id ?? '', isConfirmed: false, policy: 'batch', generation: 2 },
  ];
  const starting = (seconds: number, rules: AgentPolicy): Moment =>
    at(seconds, 500, { policy: rules, snapshot: { closedGates: [because('WarmingUp')] } });

  test('keeps waiting for the rules that the previous process waited for', () => {
    const from = { ...FIRST_STATE, activations: restoreActivations(predecessor) };
    const defaults = policy({ mode: 'DryRun', thresholds: [] });
    const moments = [starting(0, defaults), starting(5, tooHigh), at(10, 500)];
    expect(episode(moments, tooHigh, from).evicted).toEqual([[], [], ['hog (dry run)']]);
  });

  test.each([
    ['the threshold that the previous process had confirmed', 90, 200, predecessor],
    ['the default one where the previous process recorded none', 240, 300, predecessor.slice(1)],
    [
      'the default one where what was recorded was no threshold',
      240,
      300,
      [{ ...predecessor[0], rule: 'odd' }, ...predecessor.slice(1)],
    ],
  ])('keeps in force %s', (_, met, unmet, recorded) => {
    const from = { ...FIRST_STATE, activations: restoreActivations(recorded as typeof predecessor) };
    const after = (availableMiB: number): readonly string[] =>
      episode([starting(0, tooHigh), at(10, availableMiB)], tooHigh, from).evicted.flat();
    expect(after(met)).toContain('hog');
    expect(after(unmet)).toEqual(['hog (dry run)']);
  });

  test('after a reboot waits although nothing is short at first', () => {
    const from = { ...FIRST_STATE, activations: restoreActivations(predecessor) };
    expect(episode([at(0, 950), at(60, 500)], tooHigh, from).evicted).toEqual([[], ['hog (dry run)']]);
  });
});

describe('a node without a previous status', () => {
  const starting = at(0, 500, { policy: tooHigh, snapshot: { closedGates: [because('WarmingUp')] } });

  test('does not enforce a threshold that it meets while it is healthy', () => {
    expect(whoWent([starting, at(10, 500), at(20, 240)])).toEqual([[], ['hog (dry run)'], ['hog']]);
    expect(restoreActivations(undefined)).toBeUndefined();
  });

  test.each([
    ['does not enforce a threshold of a signal without a default that it meets while it is healthy', 700, true],
    ['enforces it if less than a tenth is left', 950, false],
  ])('%s', (_, running, isHeld) => {
    const parsed = parseThresholds({ evictionHard: { 'pid.available': '40%' } });
    const forker: NodePod = { name: 'forker', usageMiB: 10, processCount: 600 };
    const readings = { ...memoryReadings(500, 1000, 0), processes: { at: 0, maximum: 1000, running } };
    const rules = policy({ thresholds: parsed.ok ? parsed.thresholds : [] });
    const { steps } = runEpisode([{ now: 0, pods: [forker], snapshot: { readings } }], rules);
    expect(steps[0]?.evicted).toEqual([isHeld ? 'forker (dry run)' : 'forker']);
  });

  test('enforces all thresholds if it meets a default one too', () => {
    expect(whoWent([starting, at(10, 240)])).toEqual([[], ['hog']]);
  });
});

test('a threshold comes into force only when its signal is known', () => {
  const blind: Moment = { now: 5000, availableMiB: undefined, pods: [hog, small], policy: tooHigh };
  expect(whoWent([calm, blind, at(10, 500)])).toEqual([[], [], ['hog (dry run)']]);
});

describe('what may act at once', () => {
  test('a threshold that is not met when it comes into force', () => {
    expect(whoWent([calm, at(5, 950, { policy: tooHigh }), at(10, 500)])).toEqual([[], [], ['hog']]);
  });

  test('a policy that goes from DryRun to Enforce in a shortage', () => {
    const dry = at(5, 500, { policy: { ...tooHigh, mode: 'DryRun' } });
    expect(whoWent([calm, dry, at(10, 500, { policy: rules(3, '900Mi') })])).toEqual([[], ['hog (dry run)'], ['hog']]);
  });
});

const MEMORY_STALLS: readonly StallRatio[] = [STILL_WINDOW_MS, 10_000, 60_000].map((windowMs) => ({
  signal: 'memory.pressure',
  share: 'full',
  windowMs,
  ratio: 0.9,
}));
const IN_VAIN = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };

test('a stall rule that is met when it comes into force is reported and not enforced', () => {
  const pressed = { stalls: MEMORY_STALLS, reclaim: IN_VAIN };
  const [memory] = DEFAULT_STALL_RULES;
  const none = rules(1, '1Mi', { stallRules: [] });
  const arriving = rules(2, '1Mi', { stallRules: memory ? [memory] : [] });
  const before = at(0, 45, { policy: none, snapshot: pressed });
  expect(whoWent([before, at(5, 45, { policy: arriving, snapshot: pressed })])).toEqual([[], ['hog (dry run)']]);
  expect(whoWent([{ ...before, policy: arriving }])).toEqual([['hog']]);
});

test('a state without activations has no waiting rules', () => {
  expect(unconfirmedRules(FIRST_STATE, tooHigh)).toBeUndefined();
});
