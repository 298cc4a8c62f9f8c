import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { DoubtfulPod, DoubtfulPods } from '#agent/decide/snapshot/node-snapshot.ts';
import type { PodHistory, Range } from './pod-history.ts';

/** What another source says of the pods, held against their groups. */
export interface PodComparison {
  /** How many both sides knew at the same time. */
  readonly compared: number;
  readonly differing: DoubtfulPods;
}

/** The kubelet writes its times in whole seconds: a figure was taken within this much after its time. */
const TIME_RESOLUTION_MS = 1000;
const MEBIBYTE = 1024 * 1024;

export interface PodComparisonQuery {
  readonly source: string;
  readonly reported: readonly PodUsage[];
  readonly history: Pick<PodHistory, 'range'>;
  readonly toleranceBytes: number;
  /** A wall time of the other source on the clock of the history. */
  readonly onClock: (wallMs: number) => number;
}

/** Holds each pod's own figure against what its group used at the time of that figure. */
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
  const [theirsMiB, lowMiB, highMiB] = [theirsBytes, low, high].map((bytes) => Math.round(bytes / MEBIBYTE)) as [
    number,
    number,
    number,
  ];
  const text = `${source} sees the pod use ${theirsMiB} MiB, its group at that time ${lowMiB} to ${highMiB} MiB`;
  const facts = { source, theirsMiB, ownLowMiB: lowMiB, ownHighMiB: highMiB };
  return { theirsBytes, because: { code: 'StatisticsDoubtful', text, facts } };
}
