import type { Because } from '#shared/domain/base/because.ts';
import { isSameTotal } from '#shared/domain/pressure/memory-figure.ts';
import type { SecondOpinion } from '#agent/observe/node/second-opinions.ts';
import { DOUBTS } from '#agent/messages.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { DoubtfulPod, DoubtfulPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { OwnReading, PodHistory, Range } from './own-figures.ts';

/**
 * Result of a comparison. `incomparable`: the other source reads another machine or uses another unit, which proves
 * nothing.
 */
export type SourceVerdict =
  | { readonly source: string; readonly kind: 'agrees' }
  | { readonly source: string; readonly kind: 'differs' | 'incomparable' | 'failed'; readonly because: Because };

/** Result for one source: about the node, and about its pods if it knows them. */
export interface SourceOpinion {
  readonly verdict: SourceVerdict;
  readonly pods?: PodComparison;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

function differs(source: string, opinion: SecondOpinion, own: OwnReading, byBytes: number): SourceVerdict {
  const figures = {
    source,
    theirsMiB: mebibytes(opinion.availableBytes),
    ownLowMiB: mebibytes(own.lowBytes),
    ownHighMiB: mebibytes(own.highBytes),
  };
  const because = DOUBTS.sourcesDisagree(figures, { ...figures, byMiB: mebibytes(byBytes) });
  return { source, kind: 'differs', because };
}

function incomparable(source: string, { totalBytes }: SecondOpinion, own: OwnReading): SourceVerdict {
  const figures = { source, theirsMiB: mebibytes(totalBytes), oursMiB: mebibytes(own.totalBytes) };
  return { source, kind: 'incomparable', because: DOUBTS.otherMachine(figures, figures) };
}

/** Compares one opinion with the agent's own reading; `toleranceShare` is a share of the total. */
export function compareOpinion(
  source: string,
  opinion: SecondOpinion,
  own: OwnReading,
  toleranceShare: number,
): SourceVerdict {
  const { totalBytes, availableBytes } = opinion;
  // Another total is not this node's, or not in bytes.
  const isSameMachine = isSameTotal(totalBytes, own.totalBytes, own.hugePageBytes);
  if (!isSameMachine || Number.isNaN(availableBytes)) return incomparable(source, opinion, own);
  const byBytes = Math.max(own.lowBytes - availableBytes, availableBytes - own.highBytes, 0);
  return byBytes > own.totalBytes * toleranceShare
    ? differs(source, opinion, own, byBytes)
    : { source, kind: 'agrees' };
}

/** Pods as another source reports them, compared with their cgroups. */
export interface PodComparison {
  /** Number of pods that both sources knew at the same time. */
  readonly compared: number;
  readonly differing: DoubtfulPods;
}

/** The kubelet writes times in whole seconds: a figure was taken up to this much after its time. */
const TIME_RESOLUTION_MS = 1000;

export interface PodComparisonQuery {
  readonly source: string;
  readonly reported: readonly PodUsage[];
  readonly history: Pick<PodHistory, 'range'>;
  readonly toleranceBytes: number;
  /** Converts a wall time of the other source to the clock of the history. */
  readonly onClock: (wallMs: number) => number;
}

/** Compares each pod's reported figure with what its cgroup used at the time of that figure. */
export function comparePods({ source, reported, history, toleranceBytes, onClock }: PodComparisonQuery): PodComparison {
  let compared = 0;
  const differing = new Map<string, DoubtfulPod>();
  for (const { uid, memory } of reported) {
    // A pod of a virtual machine has 0 bytes in its cgroup: that is no figure to compare.
    if (memory?.at === undefined || memory.workingSetBytes === undefined || memory.workingSetBytes === 0) continue;
    const at = onClock(memory.at);
    const range = history.range(uid, at, at + TIME_RESOLUTION_MS);
    if (range === undefined) continue;
    compared += 1;
    if (distance(memory.workingSetBytes, range) > toleranceBytes)
      differing.set(uid, describe(source, memory.workingSetBytes, range));
  }
  return { compared, differing };
}

function distance(bytes: number, { low, high }: Range): number {
  return Math.max(low - bytes, bytes - high, 0);
}

function describe(source: string, theirsBytes: number, { low, high }: Range): DoubtfulPod {
  const facts = { source, theirsMiB: mebibytes(theirsBytes), ownLowMiB: mebibytes(low), ownHighMiB: mebibytes(high) };
  return { theirsBytes, because: DOUBTS.statisticsDoubtful(facts, facts) };
}
