import type { Because } from '#shared/domain/model/because.ts';
import type { SecondOpinion } from '#agent/observe/node/second-opinions.ts';
import type { PodComparison } from './compare-pods.ts';
import { REASONS } from '#agent/messages.ts';

/** The agent's own reading just before and just after another source was read: any value in between agrees. */
export interface OwnReading {
  readonly totalBytes: number;
  readonly lowBytes: number;
  readonly highBytes: number;
}

/**
 * Result of a comparison. `incomparable`: the other source reads another machine or uses another unit, which proves
 * nothing.
 */
export type Verdict =
  | { readonly source: string; readonly kind: 'agrees' }
  | { readonly source: string; readonly kind: 'differs' | 'incomparable' | 'failed'; readonly because: Because };

/** Result for one source: about the node, and about its pods if it knows them. */
export interface Answer {
  readonly verdict: Verdict;
  readonly pods?: PodComparison;
}

/** A total that differs by more is not this node's, or not in bytes. */
const SAME_TOTAL_SHARE = 0.01;

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function differs(source: string, opinion: SecondOpinion, own: OwnReading, byBytes: number): Verdict {
  const figures = {
    source,
    theirsMiB: mebibytes(opinion.availableBytes),
    ownLowMiB: mebibytes(own.lowBytes),
    ownHighMiB: mebibytes(own.highBytes),
  };
  const because = REASONS.sourcesDisagree(figures, { ...figures, byMiB: mebibytes(byBytes) });
  return { source, kind: 'differs', because };
}

function incomparable(source: string, { totalBytes }: SecondOpinion, own: OwnReading): Verdict {
  const figures = { source, theirsMiB: mebibytes(totalBytes), oursMiB: mebibytes(own.totalBytes) };
  return { source, kind: 'incomparable', because: REASONS.otherMachine(figures, figures) };
}

/** Compares one opinion with the agent's own reading; `toleranceShare` is a share of the total. */
export function compareOpinion(
  source: string,
  opinion: SecondOpinion,
  own: OwnReading,
  toleranceShare: number,
): Verdict {
  const { totalBytes, availableBytes } = opinion;
  const isSameMachine = Math.abs(totalBytes - own.totalBytes) <= own.totalBytes * SAME_TOTAL_SHARE;
  if (!isSameMachine || Number.isNaN(availableBytes)) return incomparable(source, opinion, own);
  const byBytes = Math.max(own.lowBytes - availableBytes, availableBytes - own.highBytes, 0);
  return byBytes > own.totalBytes * toleranceShare
    ? differs(source, opinion, own, byBytes)
    : { source, kind: 'agrees' };
}
