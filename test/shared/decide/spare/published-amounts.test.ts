import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeDigest, restoreSpareState } from '#shared/decide/spare/digest.ts';
import type { SpareObservation } from '#shared/decide/spare/lendable.ts';
import { decideSpare, emptySpareState, type SpareState } from '#shared/decide/spare/spare.ts';
import { spareStatus } from '#shared/decide/spare/spare-status.ts';
import type { SpareStatus } from '#shared/api/spare-status.ts';
import { planSpare, type SpareOffer } from '#shared/domain/nodes/plan-spare.ts';
import { SPARE_KINDS, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { NO_SPARE } from '#shared/domain/spare/spare-settings.ts';

const ENFORCE = { ...NO_SPARE, mode: 'Enforce' } as const;

type Amounts = Readonly<Record<SpareKind, number>>;

const SIZES = fc.constantFrom<Amounts>(
  { memory: 2 ** 30, cpu: 500 },
  { memory: 32 * 2 ** 30, cpu: 7_900 },
  { memory: 2 ** 40, cpu: 512_000 },
);
const STEP = fc.record({
  waitMs: fc.constantFrom(100, 10_000, 300_000, 1_800_000),
  used: fc.double({ min: 0, max: 1.1, noNaN: true }),
  spareUsed: fc.double({ min: 0, max: 1, noNaN: true }),
  /** Shares of the node that pods request which come, as far as the node offers room. */
  come: fc.array(fc.double({ min: 0.01, max: 0.5, noNaN: true }), { maxLength: 3 }),
  /** A kubelet lets in a pod with any amount of a resource that its node does not have. */
  isByHand: fc.boolean(),
  end: fc.nat(3),
  event: fc.constantFrom('none', 'none', 'none', 'restart', 'corruptDigest', 'closed', 'silent', 'doubt'),
});
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

const totalOf = (pods: readonly Amounts[], kind: SpareKind): number => pods.reduce((sum, pod) => sum + pod[kind], 0);

/** The pods of the node after a step: as the scheduler, or the kubelet alone, lets them in. */
function podsAfter({ come, end, isByHand }: Step, before: readonly Amounts[], capacity: Amounts, offered: SpareOffer) {
  return come.reduce((pods, share): readonly Amounts[] => {
    const pod = { memory: Math.round(share * capacity.memory), cpu: Math.round(share * capacity.cpu) };
    const fits = SPARE_KINDS.every(
      (kind) => totalOf(pods, kind) + pod[kind] <= (offered[kind] ?? (isByHand ? Infinity : 0)),
    );
    return fits ? [...pods, pod] : pods;
  }, before.slice(end));
}

function observation(capacity: number, requested: number, { used, spareUsed, event }: Step): SpareObservation {
  return {
    capacity,
    allocatable: capacity * 0.93,
    ceiling: capacity * 0.95,
    used: used * capacity,
    requested: capacity,
    spare: { requested, used: spareUsed * requested },
    textOf: String,
    objection: event === 'doubt' ? (facts) => ({ code: 'Doubtful', text: '', facts }) : undefined,
  };
}

function restarted(state: SpareState, { event }: Step, at: number): SpareState {
  if (event !== 'restart' && event !== 'corruptDigest') return state;
  const { memory, cpu } = state.published;
  const digest = event === 'restart' ? encodeDigest(state) : `${encodeDigest(state)}?`;
  return restoreSpareState({ digest, since: state.memory.history.since, at, lent: { memory, cpu } }, at);
}

function expectReportable(status: SpareStatus): void {
  expect(status.digest.length).toBeLessThanOrEqual(2_048);
  const amounts = SPARE_KINDS.flatMap((kind) => Object.values(status[kind]).filter((each) => typeof each === 'number'));
  expect(amounts.filter((each) => !Number.isSafeInteger(each) || each < 0)).toEqual([]);
}

function expectSafe(offer: SpareOffer, pods: readonly Amounts[], capacity: Amounts): void {
  for (const kind of SPARE_KINDS) {
    const amount = offer[kind];
    if (amount === undefined) continue;
    expect(Number.isSafeInteger(amount)).toBe(true);
    expect(amount).toBeGreaterThanOrEqual(totalOf(pods, kind));
    expect(amount).toBeLessThanOrEqual(capacity[kind]);
  }
}

test('a node offers whole amounts, never less than its spare pods request, or nothing at all', () => {
  let offers = 0;
  fc.assert(
    fc.property(SIZES, fc.array(STEP, { minLength: 10, maxLength: 60 }), (capacity, steps) => {
      let state = emptySpareState(0);
      let now = 0;
      let offered: SpareOffer = {};
      let pods: readonly Amounts[] = [];
      for (const step of steps) {
        now += step.waitMs;
        pods = podsAfter(step, pods, capacity, offered);
        const seen = {
          memory: observation(capacity.memory, totalOf(pods, 'memory'), step),
          cpu: observation(capacity.cpu, totalOf(pods, 'cpu'), step),
        };
        const decision = decideSpare(restarted(state, step, now), seen, ENFORCE, now);
        ({ state } = decision);
        const status = spareStatus(decision, seen, { mode: 'Enforce', spare: ENFORCE }, 0);
        expectReportable(status);
        const node = { name: 'n', isOpen: step.event !== 'closed', offered, capacity };
        const report = { mode: status.mode, isFresh: step.event !== 'silent', amounts: status };
        offered = planSpare(node, report, ENFORCE).offer;
        expectSafe(offered, pods, capacity);
        if (offered.memory !== undefined) offers += 1;
      }
    }),
    { numRuns: 100, seed: 1 },
  );
  expect(offers).toBeGreaterThan(300);
});

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const WORST_NODE = { memory: 32 * 2 ** 30, cpu: 8_000 };

/** When the amounts of a node change in ten hours; its usage and what spare pods request are shares of it. */
function changesIn10Hours(usedAt: (ms: number) => number, takenAt: (ms: number) => number): readonly number[] {
  const changes: number[] = [];
  let state = emptySpareState(0);
  for (let now = 0; now <= 12 * HOUR; now += 10 * SECOND) {
    const { published } = state;
    const seen = (kind: SpareKind): SpareObservation => {
      const requested = Math.min(published[kind], Math.round(takenAt(now) * WORST_NODE[kind]));
      const capacity = WORST_NODE[kind];
      return {
        capacity,
        allocatable: capacity * 0.93,
        ceiling: capacity * 0.95,
        used: usedAt(now) * capacity,
        requested: capacity,
        spare: { requested, used: requested / 2 },
        textOf: String,
      };
    };
    ({ state } = decideSpare(state, { memory: seen('memory'), cpu: seen('cpu') }, ENFORCE, now));
    const isOther = SPARE_KINDS.some((kind) => state.published[kind] !== published[kind]);
    if (isOther && now >= 2 * HOUR) changes.push(now);
  }
  return changes;
}

/** Usage that climbs for so many hours, falls, and climbs again. */
const climbing = (hours: number) => (ms: number) => 0.1 + 0.8 * ((ms / (hours * HOUR)) % 1);
const coming = (ms: number): number => Math.abs(Math.sin(ms) * 0.5);
/** What spare pods request is reported every 40 s, and figures that moved every 100 s, each after the last report (status-age.ts). */
const REPORTS = { coming: HOUR / (40 * SECOND), still: HOUR / (100 * SECOND) };
const ONCE_IN_30_S = 120;

test.each<readonly [string, (ms: number) => number]>([
  ['climbs for an hour and falls', climbing(1)],
  ['climbs for two hours and falls', climbing(2)],
  ['is noise', (ms) => 0.2 + 0.5 * Math.abs((Math.sin(ms) * 43_758.5453) % 1)],
])('a node whose usage %s is written once in 30 s at most, whatever pods come', (_, usedAt) => {
  const mostInAnHour = (takenAt: (ms: number) => number): number => {
    const changes = changesIn10Hours(usedAt, takenAt);
    return Math.max(...changes.map((from) => changes.filter((at) => at >= from && at < from + HOUR).length));
  };
  expect(mostInAnHour(coming)).toBeGreaterThan(5);
  expect(mostInAnHour(coming) + REPORTS.coming).toBeLessThanOrEqual(ONCE_IN_30_S);
  expect(mostInAnHour(() => 0) + REPORTS.still).toBeLessThanOrEqual(ONCE_IN_30_S);
});

test('the amounts of a steady node do not change', () => {
  expect(
    changesIn10Hours(
      (ms) => 0.4 + 0.01 * Math.sin(ms / HOUR),
      () => 0.2,
    ),
  ).toEqual([]);
});
