import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { DoubtfulPod, DoubtfulPods } from '#agent/decide/snapshot/node-snapshot.ts';
import type { PodHistory, Range } from './pod-history.ts';
import { REASONS } from '#agent/messages.ts';

/** Pods as another source reports them, compared with their cgroups. */
export interface PodComparison {
  /** Number of pods that both sources knew at the same time. */
  readonly compared: number;
  readonly differing: DoubtfulPods;
}

/** The kubelet writes times in whole seconds: a figure was taken up to this much after its time. */
const TIME_RESOLUTION_MS = 1000;
const MEBIBYTE = 1024 * 1024;

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
    if (memory?.at === undefined || memory.workingSetBytes === undefined) continue;
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
  return { theirsBytes, because: REASONS.statisticsDoubtful(facts, facts) };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE);
}
