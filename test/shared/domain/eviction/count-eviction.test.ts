import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Account, Debit } from '#shared/domain/disruption/account.ts';
import { countEviction, type EvictionBounds, type WantedEviction } from '#shared/domain/eviction/count-eviction.ts';
import { counted, type Evicted, evictedPod } from './counted-evictions.ts';

const NOW = 1_000_000_000;
const LIMITS = { concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespacePerTenMinutes: 3 };
const BOUNDS: EvictionBounds = { limits: LIMITS, inClusterPerMinute: 10 };

/** An eviction so many seconds ago; names by position. */
function ago(seconds: number, more: Partial<Evicted> = {}): Debit {
  return counted({ ...evictedPod(seconds), at: NOW - seconds * 1_000, ...more });
}

const WANTED: WantedEviction = { ...evictedPod(0), at: NOW, pod: 'wanted', uid: 'uid-wanted' };

const MANY = { concurrent: 100, perMinute: 100, perTenMinutes: 100, perNamespacePerTenMinutes: 100 };
/** They fill a cluster's limit of 3. */
const FULL = [1, 2, 3].map((seconds) => ago(seconds, { node: `n${seconds}` }));

describe('countEviction', () => {
  test.each<
    [what: string, before: Account, bounds: Partial<EvictionBounds> & { readonly owner?: string }, refusal: unknown]
  >([
    ['counts the first', [], {}, undefined],
    ['counts one less than the limit of a minute', [ago(1)], {}, undefined],
    [
      'refuses beyond the limit of a minute, until the oldest leaves it',
      [ago(50), ago(1)],
      {},
      ['the limit of 2 evictions a minute on node `a` is reached', 10_000],
    ],
    ['counts when the minute is over', [ago(60), ago(1)], {}, undefined],
    [
      'refuses beyond the limit of ten minutes',
      [ago(500, { namespace: 'other' }), ago(400), ago(300), ago(200)],
      {},
      ['the limit of 4 evictions in ten minutes on node `a` is reached', 100_000],
    ],
    ['counts when ten minutes are over', [ago(600, { namespace: 'other' }), ago(400), ago(200)], {}, undefined],
    [
      'refuses beyond the limit of the namespace',
      [ago(500), ago(400), ago(300)],
      {},
      ['the limit of 3 evictions in ten minutes on node `a` from namespace `team` is reached', 100_000],
    ],
    ['leaves other nodes out of it', [1, 2, 3, 4, 5].map((seconds) => ago(seconds, { node: 'b' })), {}, undefined],
    [
      'refuses beyond the limit of the cluster, whatever the node',
      [1, 2, 3].map((seconds) => ago(seconds, { node: `n${seconds}` })),
      { inClusterPerMinute: 3 },
      ['the limit of 3 evictions a minute in the cluster is reached', 57_000],
    ],
    [
      'holds an account that is bound to no node to the limit of the cluster alone',
      [ago(1), ago(2), ago(3)],
      { limits: undefined },
      undefined,
    ],
    [
      'lets nothing through where the limit is 0',
      [],
      { limits: { ...LIMITS, perMinute: 0 } },
      ['the limit of 0 evictions a minute on node `a` is reached', 60_000],
    ],
    [
      'lets nothing through where the limit of the cluster is 0',
      [],
      { inClusterPerMinute: 0 },
      ['the limit of 0 evictions a minute in the cluster is reached', 60_000],
    ],
    [
      'leaves a node less of the limit of the cluster than the rest of it',
      [1, 2].map((seconds) => ago(seconds)),
      { limits: undefined, inClusterPerMinute: 4 },
      ['the limit of 2 evictions a minute in the cluster that node `a` may use is reached', 58_000],
    ],
    [
      'leaves other nodes the rest',
      [1, 2].map((seconds) => ago(seconds, { node: 'b' })),
      { limits: undefined, inClusterPerMinute: 4 },
      undefined,
    ],
    [
      'leaves an owner less of the limit of the cluster than the rest of it',
      [1, 2].map((seconds) => ago(seconds, { node: `n${seconds}`, owner: 'rs' })),
      { limits: undefined, inClusterPerMinute: 4, owner: 'rs' },
      ['the limit of 2 evictions a minute in the cluster that one owner may use is reached', 58_000],
    ],
    [
      'yields the limit of the cluster to the last chance of a node',
      FULL,
      { inClusterPerMinute: 3, urgency: 'LastChance' },
      undefined,
    ],
    [
      'yields the share of a node to its last chance',
      [1, 2].map((seconds) => ago(seconds)),
      { limits: MANY, inClusterPerMinute: 4, urgency: 'LastChance' },
      undefined,
    ],
    [
      'yields once a minute for each node, whatever it claims',
      [...FULL, ago(30, { overran: 'cluster' })],
      { limits: MANY, inClusterPerMinute: 3, urgency: 'LastChance' },
      ['the limit of 3 evictions a minute in the cluster is reached', 30_000],
    ],
    [
      'yields again after the minute, and for another node',
      [...FULL, ago(61, { overran: 'cluster' }), ago(30, { overran: 'cluster', node: 'other' })],
      { limits: MANY, inClusterPerMinute: 3, urgency: 'LastChance' },
      undefined,
    ],
    [
      'does not yield to the severe stage alone',
      FULL,
      { inClusterPerMinute: 3, urgency: 'Severe' },
      ['the limit of 3 evictions a minute in the cluster is reached', 57_000],
    ],
    [
      'does not yield a limit of 0',
      [],
      { inClusterPerMinute: 0, urgency: 'LastChance' },
      ['the limit of 0 evictions a minute in the cluster is reached', 60_000],
    ],
    [
      'does not yield to an account that is bound to no node',
      FULL,
      { limits: undefined, inClusterPerMinute: 3, urgency: 'LastChance' },
      ['the limit of 3 evictions a minute in the cluster is reached', 57_000],
    ],
    [
      'raises the windows of a node to the pace of the kubelet in its last chance, and no further',
      [1, 2, 3, 4, 5, 6].map((seconds) => ago(seconds, { namespace: `n${seconds}` })),
      { inClusterPerMinute: 100, urgency: 'LastChance' },
      ['the limit of 6 evictions a minute on node `a` is reached', 54_000],
    ],
    ['takes the same pod for the same eviction', [ago(2), ago(1, { uid: 'uid-wanted' })], {}, undefined],
    [
      'takes what a clock that is ahead wrote for an eviction of now',
      [ago(-30_000), ago(-20_000)],
      {},
      ['the limit of 2 evictions a minute on node `a` is reached', 60_000],
    ],
  ])('%s', (_, before, { owner, ...bounds }, refusal) => {
    const outcome = countEviction(before, { ...WANTED, owner }, { ...BOUNDS, ...bounds });
    const told = outcome.kind === 'exceeded' ? [outcome.because.text, outcome.retryAfterMs] : undefined;
    expect(told).toEqual(refusal);
  });

  test('forgets what no window looks at, and names those that fill one', () => {
    const outcome = countEviction([ago(700), ago(60)], WANTED, BOUNDS);
    expect(outcome).toEqual({ kind: 'counted', account: [ago(60), counted(WANTED)] });
    expect(countEviction([ago(700), ago(300, { node: 'b' }), ago(2), ago(1)], WANTED, BOUNDS)).toMatchObject({
      filledBy: [ago(2), ago(1)],
    });
  });

  test('refuses where the account would have to forget an eviction that a window still looks at', () => {
    const full = Array.from({ length: 2_000 }, (_, index) => ago(300, { node: `n${index}`, uid: `uid-${index}` }));
    expect(countEviction(full, WANTED, { ...BOUNDS, urgency: 'LastChance' })).toMatchObject({
      because: { text: 'the limit of 2000 evictions in ten minutes in the cluster is reached' },
      retryAfterMs: 300_000,
    });
    expect(countEviction(full.slice(1), WANTED, BOUNDS)).toMatchObject({ kind: 'counted' });
  });

  test('forgets at ten minutes to the millisecond, and writes an eviction from the future down as one of now', () => {
    const early = ago(-30);
    expect(countEviction([ago(600), ago(599), early], WANTED, BOUNDS)).toEqual({
      kind: 'counted',
      account: [ago(599), { ...early, at: NOW }, counted(WANTED)],
    });
  });

  test('never lets more through than any window allows, in whatever order they are asked for', () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 90_000 }),
      node: fc.constantFrom('a', 'b'),
      namespace: fc.constantFrom('x', 'y'),
      uid: fc.integer({ min: 0, max: 200 }),
    });
    const bounds = { limits: LIMITS, inClusterPerMinute: 3 };
    const law = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let account: Account = [];
      const passed: WantedEviction[] = [];
      let at = NOW;
      for (const { waitMs, node, namespace, uid } of steps) {
        at += waitMs;
        const wanted = { ...evictedPod(uid), at, node, namespace };
        const outcome = countEviction(account, wanted, bounds);
        if (outcome.kind === 'exceeded') continue;
        if (!account.some((each) => each.uid === wanted.uid && at - each.at < 600_000)) passed.push(wanted);
        ({ account } = outcome);
      }
      const within = (windowMs: number, one: WantedEviction, has: (each: WantedEviction) => boolean): number =>
        passed.filter((each) => has(each) && each.at <= one.at && one.at - each.at < windowMs).length;
      for (const one of passed) {
        const onNode = (each: WantedEviction): boolean => each.node === one.node;
        expect(within(60_000, one, onNode)).toBeLessThanOrEqual(2);
        expect(within(600_000, one, onNode)).toBeLessThanOrEqual(4);
        expect(within(600_000, one, (each) => onNode(each) && each.namespace === one.namespace)).toBeLessThanOrEqual(3);
        expect(within(60_000, one, () => true)).toBeLessThanOrEqual(3);
      }
    });
    fc.assert(law, { numRuns: 500, seed: 20_261_122 });
  });
});
