import { describe, expect, test } from 'vitest';
import { type Account, countRemoval } from '#shared/domain/disruption/account.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import type { CoveringRule, RateLimit } from '#shared/domain/disruption/limit-rule.ts';
import { limitStatus } from '#shared/domain/disruption/limit-status.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { selectorOf } from '#test/build/cluster.ts';
import { covering, HOUR, hourly, names, percent, pods, uids, wanted } from './accounts.ts';

const COVERED = { expected: 5, up: uids(5) };
const MINUTE = 60_000;

function limit(change: Partial<DisruptionLimit> = {}): DisruptionLimit {
  const selector = prepareSelector(selectorOf({ app: 'web' }));
  return {
    namespace: 'default',
    name: 'web',
    selector,
    limits: [],
    minAvailable: undefined,
    shares: new Map(),
    ...change,
  };
}

/** One removal of a pod at each of these times, the pods from 0. */
function removedAt(times: readonly number[], rule: CoveringRule = hourly()): Account {
  return times.reduce<Account>((account, at, pod) => {
    return countRemoval(account, wanted(pod, at, { cause: 'Deletion' }), [rule]);
  }, []);
}

describe('the status of a limit (S3-20)', () => {
  const HOURLY = (max: RateLimit['max']) => limit({ limits: [{ max, windowMs: HOUR }] });
  const times = [1_000, 2_000, 3_000];

  test.each([
    ['room for one more, so no time is named', pods(4), { max: 4, removed: 3, left: 1, roomAt: undefined }],
    ['full: the first of three makes room', pods(3), { max: 3, removed: 3, left: 0, roomAt: HOUR + 1_000 }],
    ['one above it: the second makes room', pods(2), { max: 2, removed: 3, left: 0, roomAt: HOUR + 2_000 }],
    ['two above it: the third makes room', percent(20), { max: 1, removed: 3, left: 0, roomAt: HOUR + 3_000 }],
    ['a maximum of 0: nothing ever makes room', pods(0), { max: 0, removed: 3, left: 0, roomAt: undefined }],
  ])('%s', (_, max, window) => {
    const status = limitStatus(HOURLY(max), COVERED, removedAt(times), MINUTE);
    expect(status.windows).toEqual([{ windowMs: HOUR, ...window }]);
  });

  test('each window counts what is inside of it, in the order of the spec', () => {
    const limits = [HOUR, 10 * MINUTE].map((windowMs) => ({ max: pods(2), windowMs }));
    const status = limitStatus(limit({ limits }), COVERED, removedAt([0, 20 * MINUTE]), 25 * MINUTE);
    expect(status.windows.map(({ removed, roomAt }) => [removed, roomAt])).toEqual([
      [2, HOUR],
      [1, undefined],
    ]);
  });

  test.each([
    ['none', undefined, undefined],
    ['a number', pods(4), 4],
    ['half of five, rounded up as a PodDisruptionBudget rounds', percent(50), 3],
    ['none at all', pods(0), 0],
  ])('how many must stay up: %s', (_, minAvailable, expected) => {
    expect(limitStatus(limit({ minAvailable }), COVERED, [], 0).minAvailable).toBe(expected);
  });

  test('a pod that was just let go is up no longer, although it still looks so (S3-21)', () => {
    const { expectedPods, podsUp } = limitStatus(limit(), COVERED, removedAt([0]), MINUTE);
    expect({ expectedPods, podsUp }).toEqual({ expectedPods: 5, podsUp: 4 });
  });

  test('the last ten removals are shown, the oldest first, and none of another limit', () => {
    const own = removedAt(Array.from({ length: 12 }, (_, at) => at));
    const other = covering({ key: 'limit/db' });
    const account = countRemoval(own, wanted(99, 12, { cause: 'Deletion' }), [other]);
    const shown = names(limitStatus(limit(), COVERED, account, MINUTE).debits);
    expect(shown).toEqual(Array.from({ length: 10 }, (_, at) => `uid-${at + 2}`));
  });
});
