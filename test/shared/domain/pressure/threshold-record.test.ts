import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  holdingRecord,
  NEW_FOR_MS,
  type RecordedPolicy,
  recordThresholds,
  type ThresholdRecord,
  type ThresholdReport,
} from '#shared/domain/pressure/threshold-record.ts';

const RULE = 'memory.available < 900Mi for 0 s reclaim nothing';
const policy = (changes: Partial<RecordedPolicy> = {}): RecordedPolicy => ({
  generation: 4,
  confirmedGeneration: undefined,
  rules: [RULE],
  ...changes,
});
const waits = (node: string, generation = 4, rule = RULE): ThresholdReport => ({
  node,
  waiting: [{ rule, generation }],
});
const quiet = (node: string): ThresholdReport => ({ node, waiting: [] });
const NEW: ThresholdRecord = { rule: RULE, state: 'New', generation: 4, since: 0, nodes: [] };
const HELD: ThresholdRecord = { ...NEW, state: 'Held', nodes: ['a', 'b'] };
const CONFIRMED: ThresholdRecord = { ...NEW, state: 'Confirmed' };
const HOUR = 3_600_000;

/** State and nodes after one step. */
function after(
  before: ThresholdRecord | undefined,
  reports: readonly ThresholdReport[],
  now = 1000,
  changes: Partial<RecordedPolicy> = {},
): unknown {
  const [record] = recordThresholds(before === undefined ? [] : [before], policy(changes), reports, now);
  return record && [record.state, ...record.nodes];
}

describe('recordThresholds', () => {
  test.each<[string, unknown, unknown]>([
    ['nothing without a report', after(undefined, []), undefined],
    ['a threshold is new with the first report', after(undefined, [quiet('a')]), ['New']],
    ['it is held by the nodes that met it', after(NEW, [waits('b'), quiet('c'), waits('a')]), ['Held', 'a', 'b']],
    ['not by a node that reports an earlier generation', after(NEW, [waits('a', 3)]), ['New']],
    ['not by a node that waits for another threshold', after(NEW, [waits('a', 4, 'other')]), ['New']],
    ['after ten minutes it is confirmed', after(NEW, [quiet('a')], NEW_FOR_MS), ['Confirmed']],
    ['but not before', after(NEW, [quiet('a')], NEW_FOR_MS - 1), ['New']],
    ['no node holds what is confirmed', after(CONFIRMED, [waits('a')], HOUR), ['Confirmed']],
    ['also not under a later generation', after(CONFIRMED, [waits('a', 5)], HOUR, { generation: 5 }), ['Confirmed']],
    ['what is held stays held', after(HELD, [waits('a'), waits('b')], HOUR), ['Held', 'a', 'b']],
    ['a node that waits no longer leaves', after(HELD, [waits('a'), quiet('b')], HOUR), ['Held', 'a']],
    ['one that is silent or gone does not', after(HELD, [quiet('a')], HOUR), ['Held', 'b']],
    ['another that meets it joins', after(HELD, [waits('0')], HOUR), ['Held', 'a', 'b', '0']],
    ['it is confirmed when the last has left', after(HELD, [quiet('a'), quiet('b')], HOUR), ['Confirmed']],
    ['by a second change of the policy', after(HELD, [waits('a')], HOUR, { generation: 5 }), ['Confirmed']],
    ['by its annotation', after(HELD, [waits('a')], HOUR, { confirmedGeneration: 4 }), ['Confirmed']],
    ['by no other number', after(HELD, [], HOUR, { confirmedGeneration: 3 }), ['Held', 'a', 'b']],
    [
      'a threshold that the policy no longer has is forgotten',
      after(HELD, [waits('a')], HOUR, { rules: [] }),
      undefined,
    ],
  ])('%s', (_, state, expected) => {
    expect(state).toEqual(expected);
  });

  test('names at most sixteen nodes, those that hold it already first', () => {
    const reports = Array.from({ length: 40 }, (_, index) => waits(`n${String(index).padStart(2, '0')}`));
    const [record] = recordThresholds([{ ...HELD, nodes: ['z'] }], policy(), reports, HOUR);
    expect([record?.nodes.length, record?.nodes[0], record?.nodes[15]]).toEqual([16, 'z', 'n14']);
  });

  test('whatever one node reports, no confirmed threshold is held again, and the order of reports does not matter', () => {
    const report = fc.record({ node: fc.constantFrom('a', 'b', 'c'), isWaiting: fc.boolean(), generation: fc.nat(6) });
    const step = fc.record({ reports: fc.uniqueArray(report, { selector: ({ node }) => node }), minutes: fc.nat(15) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let records: readonly ThresholdRecord[] = [];
        let now = 0;
        for (const { reports, minutes } of steps) {
          now += minutes * 60_000;
          const all = reports.map(({ node, isWaiting, generation }) =>
            isWaiting ? waits(node, generation) : quiet(node),
          );
          const next = recordThresholds(records, policy(), all, now);
          expect(recordThresholds(records, policy(), all.toReversed(), now)).toEqual(next);
          if (records[0]?.state === 'Confirmed') expect(next[0]).toEqual(records[0]);
          if (next[0] !== undefined) expect(next[0].nodes.length > 0).toBe(next[0].state === 'Held');
          records = next;
        }
      }),
      { seed: 39, numRuns: 300 },
    );
  });
});

test.each<[string, Partial<RecordedPolicy>, ThresholdRecord, boolean]>([
  ['a held one', {}, HELD, true],
  ['a new one', {}, NEW, false],
  ['a confirmed one', {}, CONFIRMED, false],
  ['one of another generation', { generation: 5 }, HELD, false],
  ['one whose generation a person confirmed', { confirmedGeneration: 4 }, HELD, false],
  ['another threshold', {}, { ...HELD, rule: 'other' }, false],
])('holdingRecord: %s', (_, changes, record, holds) => {
  expect(holdingRecord([record], RULE, policy(changes)) !== undefined).toBe(holds);
});
