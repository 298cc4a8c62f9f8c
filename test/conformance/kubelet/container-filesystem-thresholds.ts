import type { DiskLayout, ThresholdSignal } from '#shared/domain/pressure/signal.ts';
import { type Threshold, createThreshold, isHard } from '#shared/domain/pressure/threshold.ts';

interface Copy {
  readonly from: ThresholdSignal;
  readonly to: ThresholdSignal;
}

/**
 * The thresholds in force once the disks are known: what is configured for the container filesystem gives way to what
 * holds for the filesystem it lives on (`UpdateContainerFsThresholds` in `pkg/kubelet/eviction/helpers.go`).
 */
export function withContainerFilesystem(thresholds: readonly Threshold[], layout: DiskLayout): readonly Threshold[] {
  return copiesFor(layout).reduce(replaceByCopies, thresholds);
}

function copiesFor(layout: DiskLayout): readonly Copy[] {
  const host = layout === 'imagesAndLayersApart' ? 'imagefs' : 'nodefs';
  return [
    { from: `${host}.available`, to: 'containerfs.available' },
    { from: `${host}.inodesFree`, to: 'containerfs.inodesFree' },
  ];
}

function replaceByCopies(thresholds: readonly Threshold[], copy: Copy): readonly Threshold[] {
  return [isHard, isSoft].reduce((kept, isOfKind) => replaceLast(kept, copy, isOfKind), thresholds);
}

function isSoft(threshold: Threshold): boolean {
  return !isHard(threshold);
}

/** Of several thresholds of a kind, hard or soft, Kubernetes copies the last and drops the last: a soft one with grace 0 is hard. */
function replaceLast(
  thresholds: readonly Threshold[],
  { from, to }: Copy,
  isOfKind: (threshold: Threshold) => boolean,
): readonly Threshold[] {
  const source = thresholds.findLast((each) => each.signal === from && isOfKind(each));
  const dropped = thresholds.findLast((each) => each.signal === to && isOfKind(each));
  const kept = thresholds.filter((each) => each !== dropped);
  return source === undefined ? kept : [...kept, createThreshold({ ...source, signal: to })];
}
