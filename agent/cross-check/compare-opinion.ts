import type { Because } from '#shared/domain/model/because.ts';
import type { SecondOpinion } from '#agent/observe/node/second-opinions.ts';
import type { PodComparison } from './compare-pods.ts';

/** Our own reading just before and just after another source was asked: whatever lies between is the same thing. */
export interface OwnReading {
  readonly totalBytes: number;
  readonly lowBytes: number;
  readonly highBytes: number;
}

/** What a comparison came to. `incomparable`: the other source looks at another machine or in another unit, which proves nothing. */
export type Verdict =
  | { readonly source: string; readonly kind: 'agrees' }
  | { readonly source: string; readonly kind: 'differs' | 'incomparable' | 'failed'; readonly because: Because };

/** What one source came to: about the node, and about its pods where it knows them. */
export interface Answer {
  readonly verdict: Verdict;
  readonly pods?: PodComparison;
}

/** A total that is further off than this is not this node's, or not in bytes. */
const SAME_TOTAL_SHARE = 0.01;

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function differs(source: string, opinion: SecondOpinion, own: OwnReading, byBytes: number): Verdict {
  const [theirs, low, high] = [opinion.availableBytes, own.lowBytes, own.highBytes].map(mebibytes) as [
    number,
    number,
    number,
  ];
  return {
    source,
    kind: 'differs',
    because: {
      code: 'SourcesDisagree',
      text: `${source} sees ${theirs} MiB of memory available, the signal's source ${low} to ${high} MiB`,
      facts: { source, theirsMiB: theirs, ownLowMiB: low, ownHighMiB: high, byMiB: mebibytes(byBytes) },
    },
  };
}

function incomparable(source: string, { totalBytes }: SecondOpinion, own: OwnReading): Verdict {
  const [theirs, ours] = [mebibytes(totalBytes), mebibytes(own.totalBytes)];
  return {
    source,
    kind: 'incomparable',
    because: {
      code: 'SourcesNotComparable',
      text: `${source} sees a machine of ${theirs} MiB, the signal's source one of ${ours} MiB`,
      facts: { source, theirsMiB: theirs, oursMiB: ours },
    },
  };
}

/** Holds one opinion against our own reading; `toleranceShare` is of the total. */
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
