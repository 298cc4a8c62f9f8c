import { describe, expect, test } from 'vitest';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { restoreActivations, unconfirmedRules } from '#shared/decide/eviction/shortage/rule-activation.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const small: NodePod = { name: 'small', requests: { memory: '10Mi' }, usageMiB: 60 };
const EMPTY = 950;
const FULL = 500;
const MINUTE = 60;

function rules(generation: number, hard: string, changes: Partial<AgentPolicy> = {}): AgentPolicy {
  const parsed = parseThresholds({ evictionHard: { 'memory.available': hard } });
  return policy({ name: 'batch', generation, thresholds: parsed.ok ? parsed.thresholds : [], ...changes });
}

const TOO_HIGH = 'memory.available < 900Mi for 0 s reclaim nothing';

function held(generation: number, changes: Partial<ThresholdRecord> = {}): ThresholdRecord {
  return { rule: TOO_HIGH, state: 'Held', generation, since: 0, nodes: ['n7'], ...changes };
}

/** Generation 2 of a policy whose threshold is above what healthy nodes have left, with what is recorded of it. */
const tooHigh = (...thresholdRecords: readonly ThresholdRecord[]): AgentPolicy =>
  rules(2, '900Mi', { thresholdRecords });
const record = held(2);

function at(seconds: number, availableMiB: number, rules?: AgentPolicy): Moment {
  return { now: seconds * 1000, availableMiB, pods: [hog, small], ...(rules && { policy: rules }) };
}

/** Each moment is two passes a second apart, which a hard memory threshold needs. */
function episode(moments: readonly Moment[], from: AgentState = FIRST_STATE) {
  const passes = moments.flatMap((moment) => [moment, { ...moment, now: moment.now + 1000 }]);
  const { steps, state } = runEpisode(passes, tooHigh(), from);
  const evicted = moments.map((_, index) => steps.slice(2 * index, 2 * index + 2).flatMap((step) => step.evicted));
  return { evicted, state };
}

const evictedAtEnd = (...moments: readonly Moment[]): readonly string[] => episode(moments).evicted.at(-1) ?? [];
const heldBy = ({ activations }: AgentState): unknown => activations?.get(TOO_HIGH)?.heldBy;

describe('a threshold that other nodes met when it came into force', () => {
  test('is not enforced on a new, empty node that fills up later', () => {
    const { evicted, state } = episode([at(0, EMPTY, tooHigh(record)), at(20 * MINUTE, FULL)]);
    expect(evicted).toEqual([[], ['hog (dry run)']]);
    expect(heldBy(state)).toBe('Node');
  });

  test('is not enforced on a node without a previous status that is short by a default one too', () => {
    const arrives = at(0, 240, tooHigh(record));
    expect(evictedAtEnd(arrives)).toEqual(['hog (dry run)']);
    expect(evictedAtEnd(arrives, at(700, FULL))).toEqual(['hog (dry run)']);
    expect(evictedAtEnd(arrives, at(10, 240))).toEqual(['hog']);
  });

  test('stays unenforced for as long as they hold it, however long this node does not meet it', () => {
    const relieved = [1, 3, 6, 12, 60].map((minutes) => at(minutes * MINUTE, EMPTY));
    const { evicted, state } = episode([at(0, EMPTY, tooHigh(record)), ...relieved, at(61 * MINUTE, FULL)]);
    expect(evicted.at(-1)).toEqual(['hog (dry run)']);
    expect(heldBy(episode([at(0, EMPTY, tooHigh(record)), ...relieved]).state)).toBe('Policy');
    expect(heldBy(state)).toBe('Node');
  });

  test('is taken back where an empty node has just confirmed it, and its predecessor is in force again', () => {
    const start = [at(0, EMPTY, rules(1, '100Mi')), at(10, EMPTY, tooHigh())];
    expect(evictedAtEnd(...start, at(30, EMPTY, tooHigh(record)), at(600, FULL))).toEqual(['hog (dry run)']);
    expect(evictedAtEnd(...start, at(30, EMPTY, tooHigh(record)), at(600, 90))).toContain('hog');
  });

  test('is enforced once no node holds it, or a person confirms it', () => {
    const start = at(0, EMPTY, tooHigh(record));
    const after = [
      tooHigh(held(2, { state: 'Confirmed', nodes: [] })),
      tooHigh(),
      { ...tooHigh(record), confirmedGeneration: 2 },
      rules(3, '900Mi', { thresholdRecords: [record] }),
    ];
    for (const next of after) expect(evictedAtEnd(start, at(60, EMPTY, next), at(120, FULL))).toEqual(['hog']);
    expect(evictedAtEnd(start, at(60, EMPTY, { ...tooHigh(record), confirmedGeneration: 1 }), at(120, FULL))).toEqual([
      'hog (dry run)',
    ]);
  });

  test('waits for its own relief on a node that meets it when the others let go', () => {
    const free = tooHigh(held(2, { state: 'Confirmed', nodes: [] }));
    const start = [at(0, EMPTY, tooHigh(record)), at(60, FULL), at(120, FULL, free)];
    expect(evictedAtEnd(...start, at(130, FULL))).toEqual([]);
    expect(evictedAtEnd(...start, at(400, FULL))).toEqual(['hog (dry run)']);
    expect(evictedAtEnd(...start, at(130, EMPTY), at(440, EMPTY), at(450, FULL))).toEqual(['hog']);
  });

  test('waits over a restart, for the same reason', () => {
    const before = episode([at(0, EMPTY, tooHigh(record)), at(6 * MINUTE, EMPTY)]).state;
    const recorded = [...(before.activations ?? [])].map(([rule, each]) => ({ rule, ...each, unmetSince: undefined }));
    const from = { ...FIRST_STATE, activations: restoreActivations(recorded) };
    const { evicted, state } = episode([at(0, EMPTY, tooHigh(record)), at(400, EMPTY)], from);
    expect([evicted.flat(), heldBy(state)]).toEqual([[], 'Policy']);
    expect(unconfirmedRules(state, tooHigh(record))).toMatchObject({
      code: 'MetElsewhere',
      text: expect.stringContaining('was already met on node n7 when policy batch introduced it') as string,
    });
  });
});

describe('what one node says stops no other from enforcing', () => {
  test.each([
    ['a threshold that has been in force for longer than thresholds are new', 16 * MINUTE, tooHigh(record)],
    ['a threshold of an earlier generation', 60, rules(2, '900Mi', { thresholdRecords: [held(1)] })],
    ['a threshold that is new', 60, tooHigh(held(2, { state: 'New', nodes: [] }))],
    ['another threshold', 60, tooHigh(held(2, { rule: 'memory.available < 800Mi for 0 s reclaim nothing' }))],
  ])('%s', (_, seconds, next) => {
    const start = [at(0, EMPTY, rules(1, '100Mi')), at(10, EMPTY, tooHigh())];
    expect(evictedAtEnd(...start, at(10 + seconds, EMPTY, next), at(40 * MINUTE, FULL))).toEqual(['hog']);
  });

  test('a threshold that was confirmed before a restart', () => {
    const confirmed = { rule: TOO_HIGH, isConfirmed: true, policy: 'batch', generation: 2, mode: 'Enforce' as const };
    const from = { ...FIRST_STATE, activations: restoreActivations([confirmed]) };
    expect(episode([at(0, EMPTY, tooHigh(record)), at(60, FULL)], from).evicted.at(-1)).toEqual(['hog']);
  });

  test('a threshold that asks for less than the confirmed one before it', () => {
    const start = at(0, EMPTY, rules(1, '920Mi'));
    expect(evictedAtEnd(start, at(10, EMPTY, tooHigh(record)), at(60, FULL))).toEqual(['hog']);
  });
});
