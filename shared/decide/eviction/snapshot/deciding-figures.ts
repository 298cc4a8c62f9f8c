import {
  decidingReadings,
  figureInForce,
  isMemorySignal,
  MEMORY_SIGNALS,
  type MemoryFigure,
  memoryReadingOf,
  type MemorySignal,
} from '#shared/domain/pressure/memory-figure.ts';
import {
  observe,
  type Observations,
  type MemoryReading,
  wholeQuantity,
  type Signal,
  resourceOf,
} from '#shared/domain/pressure/signal.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { type PodUsage, RESOURCES, type UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import type { ObservedNode } from './node-snapshot.ts';

type Figures = Pick<ObservedNode, 'readings' | 'reclaimable'>;

/**
 * The observations that thresholds are compared with: for memory the deciding figure, for everything else the reading.
 */
export function decidingObservations(
  { readings, reclaimable }: Figures,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): Observations {
  return observe(decidingReadings(readings, reclaimable, memoryFigure));
}

/** The figure that decides for a memory signal; `undefined` for other signals. */
export function decidingFigure(
  signal: Signal,
  { reclaimable }: Pick<Figures, 'reclaimable'>,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): MemoryFigure | undefined {
  return isMemorySignal(signal) ? figureInForce(reclaimable, memoryFigure, signal) : undefined;
}

/** A pod's usage of the resource of a signal; `undefined` if it was not measured. */
export function figureFor(signal: Signal, usage: PodUsage | undefined): number | undefined {
  return usage === undefined ? undefined : RESOURCES[resourceOf(signal)].figure(usage);
}

/** Total usage of the resource of a signal by all pods but one. */
export function othersUse(signal: Signal, usage: UsageByUid, uid: string): number {
  let sum = 0;
  for (const each of usage.values()) if (each.uid !== uid) sum += figureFor(signal, each) ?? 0;
  return sum;
}

/** The last comparison of the kubelet's figures with the reclaimable memory. */
export interface FigureComparison {
  /** Memory signals whose two figures differ widely, each with the reason in words and numbers. */
  readonly gaps: ReadonlyMap<MemorySignal, Because>;
  /** When it was made; `undefined` if the two figures were not compared within the last minute. */
  readonly at: Instant | undefined;
}

export const NOT_COMPARED: FigureComparison = { gaps: new Map(), at: undefined };

/**
 * A gap above the first share of the capacity is reported until it falls below the second, so that it is reported once.
 */
const APART_SHARE = 0.1;
const TOGETHER_SHARE = 0.05;
/**
 * Figures in the kubelet's summary are up to 16 s old: memory that changed since then is not a difference between
 * figures.
 */
const SAME_TIME_MS = 2000;
/** The summary has a new figure every ten seconds, which is not always read in time for a comparison. */
const KEPT_MS = 60_000;

type Compared = Pick<ObservedNode, 'readings' | 'reclaimable'> & { readonly now: Instant };

/** The comparison after one more pass. */
export function advanceFigureComparison(previous: FigureComparison, seen: Compared): FigureComparison {
  const pairs = MEMORY_SIGNALS.flatMap((signal) => pairOf(signal, seen));
  if (!pairs.some(({ signal }) => signal === 'memory.available')) return keptUntil(previous, seen.now);
  const gaps = pairs.flatMap((pair) => {
    const share = previous.gaps.has(pair.signal) ? TOGETHER_SHARE : APART_SHARE;
    return isApart(pair, share) ? [[pair.signal, describeGap(pair)] as const] : [];
  });
  return { gaps: gaps.length === 0 ? NOT_COMPARED.gaps : new Map(gaps), at: seen.now };
}

function keptUntil(previous: FigureComparison, now: Instant): FigureComparison {
  return previous.at !== undefined && now - previous.at <= KEPT_MS ? previous : NOT_COMPARED;
}

/** Both figures of a signal, from the same time. */
interface FigurePair {
  readonly signal: MemorySignal;
  readonly kubelets: number;
  readonly own: number;
  readonly capacity: number;
}

function pairOf(signal: MemorySignal, { readings, reclaimable }: Compared): readonly FigurePair[] {
  const [kubelets, own] = [readings, reclaimable].map((each) => figureOf(memoryReadingOf(each, signal)));
  if (kubelets === undefined || own === undefined || Math.abs(kubelets.at - own.at) > SAME_TIME_MS) return [];
  return [{ signal, kubelets: kubelets.available, own: own.available, capacity: own.capacity }];
}

function isApart({ kubelets, own, capacity }: FigurePair, share: number): boolean {
  return Math.abs(kubelets - own) > capacity * share;
}

interface TimedFigure {
  readonly available: number;
  readonly capacity: number;
  readonly at: Instant;
}

function figureOf(reading: MemoryReading | undefined): TimedFigure | undefined {
  const { availableBytes, workingSetBytes, at } = reading ?? {};
  if (availableBytes === undefined || workingSetBytes === undefined || at === undefined) return undefined;
  return { available: availableBytes, capacity: availableBytes + workingSetBytes, at };
}

/** The kubelet reports less where page cache is active, and more where the kernel itself holds memory. */
function describeGap({ signal, kubelets, own }: FigurePair): Because {
  const kubeletAvailable = formatQuantity(wholeQuantity(kubelets, 'BinarySI'));
  const reclaimable = formatQuantity(wholeQuantity(own, 'BinarySI'));
  const facts = { signal, kubeletAvailable, reclaimable };
  return kubelets < own ? REASONS.cacheCountedAsUsed(facts, facts) : REASONS.heldMemoryMissed(facts, facts);
}
