import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { emptyHistogram, type Histogram, withCase } from './histogram.ts';

/**
 * What everything but spare pods used of one resource of a node, as shares of its capacity: where usage stands, how high
 * it was before, and how much it rose within the horizon.
 */
export interface UsageHistory {
  readonly since: Instant;
  /** The highest usage of each block of five minutes. */
  readonly used: Histogram;
  /** The highest usage within each horizon. */
  readonly peaks: Histogram;
  /** By how much usage rose within each horizon. */
  readonly rises: Histogram;
  /** Finished blocks of the last horizon, the latest last. */
  readonly blocks: readonly Block[];
  readonly open: OpenBlock | undefined;
}

/** How far ahead usage matters, and whether the highest or the mean usage of a block counts. */
export interface HistoryShape {
  readonly horizonMs: number;
  readonly counts: 'Highest' | 'Mean';
  readonly halfLifeMs: number;
}

interface Block {
  readonly last: number;
  /** What counts of the block. */
  readonly figure: number;
}

interface OpenBlock {
  readonly since: Instant;
  readonly last: number;
  readonly highest: number;
  readonly sum: number;
  readonly count: number;
}

const BLOCK_MS = 5 * MINUTE_MS;

export function emptyHistory(at: Instant): UsageHistory {
  const empty = emptyHistogram(at);
  return { since: at, used: empty, peaks: empty, rises: empty, blocks: [], open: undefined };
}

/** The history with one more measurement. */
export function withUsage(history: UsageHistory, used: number, at: Instant, shape: HistoryShape): UsageHistory {
  const { open } = history;
  if (open === undefined) return { ...history, open: { since: at, last: used, highest: used, sum: used, count: 1 } };
  if (at - open.since >= BLOCK_MS) return withUsage(closeBlock(history, open, at, shape), used, at, shape);
  const { since, highest, sum, count } = open;
  return {
    ...history,
    open: { since, last: used, highest: Math.max(highest, used), sum: sum + used, count: count + 1 },
  };
}

function closeBlock(history: UsageHistory, open: OpenBlock, at: Instant, shape: HistoryShape): UsageHistory {
  const { horizonMs, halfLifeMs } = shape;
  const figure = figureOf(open, shape);
  const most = Math.round(horizonMs / BLOCK_MS) + 1;
  const blocks = [...history.blocks, { last: shape.counts === 'Mean' ? figure : open.last, figure }].slice(-most);
  const used = withCase(history.used, open.highest, at, halfLifeMs);
  const [first, ...later] = blocks;
  if (first === undefined || blocks.length < most) return { ...history, used, blocks, open: undefined };
  const peak = Math.max(...later.map((each) => each.figure));
  return {
    ...history,
    used,
    blocks,
    open: undefined,
    peaks: withCase(history.peaks, peak, at, halfLifeMs),
    rises: withCase(history.rises, Math.max(0, peak - first.last), at, halfLifeMs),
  };
}

function figureOf({ highest, sum, count }: OpenBlock, { counts }: HistoryShape): number {
  return counts === 'Mean' ? sum / count : highest;
}

/** Where usage stands: the highest of the last horizon, or the mean of the last block. */
export function levelOf({ blocks, open }: UsageHistory, shape: HistoryShape): number {
  const now = open === undefined ? 0 : figureOf(open, shape);
  if (shape.counts === 'Mean') return blocks.at(-1)?.figure ?? now;
  return Math.max(now, ...blocks.slice(1).map(({ figure }) => figure));
}
