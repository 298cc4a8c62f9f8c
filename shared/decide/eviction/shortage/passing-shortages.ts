import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { compareDecimals, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountOf, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import type { Observation } from '#shared/domain/pressure/signal.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { isTerminating, type NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { type GrowthWindows, isLeaking } from '#shared/decide/eviction/usage-growth.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/** The shortage of memory that lasts now, below a hard threshold. */
export interface CurrentShortage {
  readonly since: Instant;
  readonly lowest: number;
  /** What pods that stay used when least was left. */
  readonly usedAtLowest: ReadonlyMap<string, number>;
  readonly oomKills: number | undefined;
}

/** A shortage that would have ended without any eviction: pods that stayed gave back what was missing. */
interface PassedShortage {
  readonly endedAt: Instant;
  readonly lastedMs: Instant;
  readonly lowest: number;
}

/** What is known of recent shortages of memory. */
export interface PassingShortages {
  readonly current: CurrentShortage | undefined;
  readonly passed: readonly PassedShortage[];
  /** When the kernel last ended one by a kill. */
  readonly killedAt?: Instant | undefined;
}

export const NO_PASSING: PassingShortages = { current: undefined, passed: [] };

/** A shortage that ended by itself so often is expected to do so again. */
const EXPECTED_AFTER = 2;
const MEMORY_MS = 600_000;
/** As long as the last ones, and half as long again; the kubelet would have looked once more in this time. */
const PATIENCE = 1.5;
const LEAST_PATIENCE_MS = 2000;
const MOST_PATIENCE_MS = 30_000;
/** Deeper than half of what was left before, it is another shortage. */
const AS_DEEP = 0.5;

type Seen = Pick<NodeSnapshot, 'now' | 'pods' | 'usage' | 'oomKills'>;

/** What is known after one more pass. */
export function advancePassing(
  previous: PassingShortages,
  seen: Seen,
  { observed, thresholds }: { readonly observed: Observation | undefined; readonly thresholds: readonly Threshold[] },
): PassingShortages {
  if (observed === undefined) return previous;
  const available = quantityNumber(observed.available);
  const floor = floorOf(thresholds, observed);
  if (available < floor) return { ...previous, current: deepen(previous.current, seen, available) };
  if (previous.current === undefined && previous.passed.length === 0) return previous;
  const recent = previous.passed.filter(({ endedAt }) => seen.now - endedAt < MEMORY_MS);
  const { current, killedAt } = previous;
  if (current !== undefined && current.oomKills !== seen.oomKills)
    return { current: undefined, passed: recent, killedAt: seen.now };
  const ended = current === undefined ? [] : passedBy(current, seen, floor);
  return { current: undefined, passed: [...recent, ...ended], killedAt };
}

function floorOf(thresholds: readonly Threshold[], observed: Observation): number {
  const hard = thresholds.filter((each) => each.signal === 'memory.available' && isHard(each));
  return Math.max(0, ...hard.map(({ value }) => quantityNumber(amountOf(value, observed))));
}

function deepen(current: CurrentShortage | undefined, seen: Seen, available: number): CurrentShortage {
  if (current !== undefined && current.lowest <= available) return current;
  const { since, oomKills } = current ?? { since: seen.now, oomKills: seen.oomKills };
  return { since, oomKills, lowest: available, usedAtLowest: usedByStaying(seen) };
}

/** Without those that have no figure: a pod that has ended and is still watched gave nothing back by itself. */
function usedByStaying({ pods, usage }: Seen): ReadonlyMap<string, number> {
  const staying = [...pods.aliveByUid.values()].filter((pod) => !isTerminating(pod));
  return new Map(
    staying.flatMap(({ uid }): readonly (readonly [string, number])[] => {
      const used = figureFor('memory.available', usage.get(uid));
      return used === undefined ? [] : [[uid, used]];
    }),
  );
}

/** A shortage that ended without a kill by the kernel, if those that stay gave back what was missing. */
function passedBy(current: CurrentShortage, seen: Seen, floor: number): readonly PassedShortage[] {
  const { since, lowest, usedAtLowest } = current;
  const now = usedByStaying(seen);
  let givenBack = 0;
  for (const [uid, used] of now) givenBack += (usedAtLowest.get(uid) ?? used) - used;
  if (givenBack < floor - lowest) return [];
  return [{ endedAt: seen.now, lastedMs: seen.now - since, lowest }];
}

/** Whether the shortages of the last ten minutes ended by themselves: this one is no last chance then. */
export function isExpectedToPass({ passed }: PassingShortages): boolean {
  return passed.length >= EXPECTED_AFTER;
}

/** Why a shortage that is expected to end by itself evicts no pod yet: it has lasted no longer than others, and is no deeper. */
export function passingGate({ current, passed }: PassingShortages, now: Instant): Because | undefined {
  if (current === undefined || passed.length < EXPECTED_AFTER) return undefined;
  const longest = Math.max(...passed.map(({ lastedMs }) => lastedMs));
  const patienceMs = Math.min(Math.max(longest * PATIENCE, LEAST_PATIENCE_MS), MOST_PATIENCE_MS);
  const isDeeper = current.lowest < Math.min(...passed.map(({ lowest }) => lowest)) * AS_DEEP;
  if (isDeeper || now - current.since >= patienceMs) return undefined;
  const facts = { count: passed.length, seconds: Math.ceil(longest / 1000) };
  return REASONS.endsByItself(facts, facts);
}

/**
 * Why the mild stage evicts no pod yet after the kernel has ended a shortage by a kill: the pod that it killed may be the
 * cause, starts again without a byte, and would not be known for it; another would go in its stead.
 */
export function kernelGate({ killedAt }: PassingShortages, now: Instant): Because | undefined {
  if (killedAt === undefined || now - killedAt >= KUBELET_PERIOD_MS) return undefined;
  return REASONS.kernelActs({}, { windowSeconds: KUBELET_PERIOD_MS / 1000 });
}

/** The kubelet's default hard threshold: above it the kubelet alone would evict no pod. */
export const USUAL_KUBELET_THRESHOLD = 100 * 1024 * 1024;
/** The kubelet looks once in this time. */
export const KUBELET_PERIOD_MS = 10_000;

interface GrowthNow {
  readonly current: CurrentShortage | undefined;
  readonly growth: GrowthWindows;
  /** What the node has left; `undefined` if it is unknown. */
  readonly available: number | undefined;
}

/** What `withinRequestGate` asks of a state. */
export function takerOf({ passing, growth, trend }: TakerState): GrowthNow {
  return { current: passing.current, growth, available: trend?.available };
}

interface TakerState extends Pick<GrowthNow, 'growth'> {
  readonly passing: PassingShortages;
  readonly trend: { readonly available: number } | undefined;
}

/**
 * Why the first shortage of a kind evicts no pod yet: a pod that keeps to its request takes the memory, and more is left
 * than the kubelet needs. Others would go although it may give the memory back in a moment.
 */
export function withinRequestGate(
  { current, growth, available }: GrowthNow,
  { pods, usage, now }: Pick<NodeSnapshot, 'pods' | 'usage' | 'now'>,
): Because | undefined {
  if (current === undefined || available === undefined) return undefined;
  if (now - current.since >= KUBELET_PERIOD_MS || current.lowest < USUAL_KUBELET_THRESHOLD) return undefined;
  const taker = pods.running.find(({ pod: { uid }, requests: { memory } }) => {
    const used = figureFor('memory.available', usage.get(uid));
    if (used === undefined || compareDecimals({ mantissa: used, exponent: 0 }, memory) > 0) return false;
    return isLeaking(growth, uid, { used, available });
  });
  if (taker === undefined) return undefined;
  const { namespace, name, uid } = taker.pod;
  const seconds = KUBELET_PERIOD_MS / 1000;
  return REASONS.growsWithinRequest({ pod: `${namespace}/${name}`, seconds }, { namespace, pod: name, uid, seconds });
}
