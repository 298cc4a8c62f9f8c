import type { Pod, Volume } from '#shared/domain/model/pod.ts';
import type { DiskLayout } from '#shared/domain/pressure/disk-layout.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { ContainerUsage, FilesystemUsage, PodUsage } from './pod-usage.ts';

/** Places where a pod writes to disk; each may lie on another filesystem. */
type Place = 'layers' | 'logs' | 'volumes';

interface DiskMeasure {
  readonly places: readonly Place[];
  readonly unit: keyof FilesystemUsage;
}

/** A volume of these kinds lies on the node's own disk; an emptyDir only if it is not in memory. */
const LOCAL_VOLUMES: readonly string[] = ['hostPath', 'gitRepo', 'configMap'];

const EVERYWHERE: readonly Place[] = ['layers', 'logs', 'volumes'];

/** Which places a filesystem holds in each layout (`buildSignalToRankFunc` in `pkg/kubelet/eviction/helpers.go`). */
const PLACES: Readonly<Record<DiskLayout, Readonly<Record<'nodefs' | 'imagefs' | 'containerfs', readonly Place[]>>>> = {
  single: { nodefs: EVERYWHERE, imagefs: EVERYWHERE, containerfs: EVERYWHERE },
  imagesAndLayersApart: { nodefs: ['logs', 'volumes'], imagefs: ['layers'], containerfs: ['layers'] },
  imagesApart: { nodefs: EVERYWHERE, imagefs: [], containerfs: EVERYWHERE },
};

/**
 * What a pod uses of the resource that a signal watches, in the signal's unit: bytes, inodes, processes, nanocores or bytes per second.
 * A figure that is missing counts as nothing. A pressure signal ranks by what is consumed, never by a pod's own stalls:
 * the pod that took the memory shows none.
 */
export function measuredUsage(signal: Signal, layout: DiskLayout, pod: Pod, usage: PodUsage): number {
  switch (signal) {
    case 'memory.available':
    case 'allocatableMemory.available':
    case 'memory.pressure':
      return usage.memory?.workingSetBytes ?? 0;
    case 'pid.available':
      return usage.processCount ?? 0;
    case 'cpu.available':
    case 'cpu.pressure':
      return usage.cpuNanoCores ?? 0;
    case 'io.pressure':
      return usage.ioBytesPerSecond ?? 0;
    default:
      return diskUsage(diskMeasure(signal, layout), pod, usage);
  }
}

type DiskSignal = `${'nodefs' | 'imagefs' | 'containerfs'}.${'available' | 'inodesFree'}`;

function diskMeasure(signal: DiskSignal, layout: DiskLayout): DiskMeasure {
  const places = PLACES[layout];
  switch (signal) {
    case 'nodefs.available':
      return { places: places.nodefs, unit: 'usedBytes' };
    case 'nodefs.inodesFree':
      return { places: places.nodefs, unit: 'inodesUsed' };
    case 'imagefs.available':
      return { places: places.imagefs, unit: 'usedBytes' };
    case 'imagefs.inodesFree':
      return { places: places.imagefs, unit: 'inodesUsed' };
    case 'containerfs.available':
      return { places: places.containerfs, unit: 'usedBytes' };
    case 'containerfs.inodesFree':
      return { places: places.containerfs, unit: 'inodesUsed' };
  }
}

/** Follows `podDiskUsage`. */
function diskUsage({ places, unit }: DiskMeasure, pod: Pod, usage: PodUsage): number {
  let sum = 0;
  for (const place of places) sum += usageOfPlace(place, unit, pod, usage);
  return sum;
}

function usageOfPlace(place: Place, unit: keyof FilesystemUsage, pod: Pod, usage: PodUsage): number {
  switch (place) {
    case 'layers':
      return sumOver(usage.containers, ({ rootfs }) => rootfs[unit]);
    case 'logs':
      return sumOver(usage.containers, ({ logs }) => logs[unit]);
    case 'volumes':
      return localVolumeUsage(unit, pod, usage);
  }
}

function sumOver(containers: readonly ContainerUsage[], figure: (of: ContainerUsage) => number | undefined): number {
  let sum = 0;
  for (const container of containers) sum += figure(container) ?? 0;
  return sum;
}

/** Follows `podLocalVolumeUsage`: of two statistics with one name the first counts. */
function localVolumeUsage(unit: keyof FilesystemUsage, pod: Pod, usage: PodUsage): number {
  let sum = 0;
  for (const volume of pod.spec.volumes) {
    if (!isLocal(volume)) continue;
    sum += usage.volumes.find(({ name }) => name === volume.name)?.[unit] ?? 0;
  }
  return sum;
}

/** Follows `localVolumeNames`. */
function isLocal(volume: Volume): boolean {
  if (volume.source === 'emptyDir') return volume.emptyDirMedium === '';
  return LOCAL_VOLUMES.includes(volume.source);
}
