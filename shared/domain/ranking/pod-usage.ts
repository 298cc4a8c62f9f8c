import type { Instant, Pod, Volume } from '#shared/domain/pod/pod.ts';
import {
  type DiskLayout,
  type DiskSignal,
  resourceOf,
  type Signal,
  type StarvedResource,
} from '#shared/domain/pressure/signal.ts';
import { type Amounts, addQuantities, type QuantityFormat, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { hasPodLevelResources, podRequests } from '#shared/domain/pod/pod-requests.ts';
import { asAllocated } from '#shared/domain/pod/pod-resize.ts';

/** `cpuNanoCores` of a millicore. */
export const NANO_PER_MILLI = 1_000_000;

/** What one pod uses, as in the kubelet's statistics: whole units; a source leaves out what it does not measure. */
export interface PodUsage {
  /** The only link between statistics and a pod. */
  readonly uid: string;
  /** Absent differs from present without a working set: messages distinguish them. */
  readonly memory?: MemoryUsage | undefined;
  readonly processCount?: number | undefined;
  readonly cpuNanoCores?: number | undefined;
  /** Read and written. */
  readonly ioBytesPerSecond?: number | undefined;
  /** Writable layers, logs, local volumes and /etc/hosts together. */
  readonly ephemeralStorageBytes?: number | undefined;
  readonly containers: readonly ContainerUsage[];
  readonly volumes: readonly VolumeUsage[];
}

export interface MemoryUsage {
  /** When it was measured; the kubelet's pod entries may be many seconds older than its container entries. */
  readonly at: Instant | undefined;
  readonly workingSetBytes: number | undefined;
}

export interface FilesystemUsage {
  readonly usedBytes: number | undefined;
  readonly inodesUsed: number | undefined;
}

export interface ContainerUsage {
  readonly name: string;
  readonly workingSetBytes: number | undefined;
  /** The writable layer. */
  readonly rootfs: FilesystemUsage;
  readonly logs: FilesystemUsage;
}

export interface VolumeUsage extends FilesystemUsage {
  readonly name: string;
}

/** Statistics by pod UID; the last entry for a UID counts. */
export type UsageByUid = ReadonlyMap<string, PodUsage>;

/** Indexes statistics (`cachedStatsFunc` in `pkg/kubelet/eviction/helpers.go`). */
export function usageByUid(usages: readonly PodUsage[]): UsageByUid {
  return new Map(usages.map((usage) => [usage.uid, usage]));
}

/** Places where a pod writes to disk; each may be on a different filesystem. */
type DiskPlace = 'layers' | 'logs' | 'volumes';
type Filesystem = 'nodefs' | 'imagefs' | 'containerfs';

interface DiskMeasure {
  readonly filesystem: Filesystem;
  readonly unit: keyof FilesystemUsage;
}

const DISK_MEASURES: Readonly<Record<DiskSignal, DiskMeasure>> = {
  'nodefs.available': { filesystem: 'nodefs', unit: 'usedBytes' },
  'nodefs.inodesFree': { filesystem: 'nodefs', unit: 'inodesUsed' },
  'imagefs.available': { filesystem: 'imagefs', unit: 'usedBytes' },
  'imagefs.inodesFree': { filesystem: 'imagefs', unit: 'inodesUsed' },
  'containerfs.available': { filesystem: 'containerfs', unit: 'usedBytes' },
  'containerfs.inodesFree': { filesystem: 'containerfs', unit: 'inodesUsed' },
};

/** How an amount is printed. */
export interface Unit {
  readonly format: QuantityFormat;
  readonly exponent: number;
  readonly name: string;
}

interface ResourceMeaning {
  /** The unit in which usage is measured. */
  readonly unit: Unit;
  /** Whether pods can request it. */
  readonly requestable: boolean;
  /** What a pod uses; `undefined` if it was not measured. */
  readonly figure: (usage: PodUsage) => number | undefined;
  /** The statistics of a pod that uses this much, for a simulation. */
  readonly usageOf: (amount: number) => Partial<PodUsage>;
}

const BYTES = { format: 'BinarySI', exponent: 0 } as const;
const NUMBER = { format: 'DecimalSI', exponent: 0 } as const;
/** Usage of a disk depends on its layout; only the kubelet evicts for it. */
const NO_FIGURE = { figure: () => undefined, usageOf: () => ({}) } as const;

/** Every resource that a signal watches: how pods use and request it. */
export const RESOURCES: Readonly<Record<StarvedResource, ResourceMeaning>> = {
  memory: {
    unit: { ...BYTES, name: 'memory' },
    requestable: true,
    figure: ({ memory }) => memory?.workingSetBytes,
    usageOf: (workingSetBytes) => ({ memory: { at: undefined, workingSetBytes } }),
  },
  'ephemeral-storage': { unit: { ...BYTES, name: 'ephemeral-storage' }, requestable: true, ...NO_FIGURE },
  inodes: { unit: { ...NUMBER, name: 'inodes' }, requestable: true, ...NO_FIGURE },
  pids: {
    unit: { ...NUMBER, name: 'processes' },
    requestable: false,
    figure: ({ processCount }) => processCount,
    usageOf: (processCount) => ({ processCount }),
  },
  cpu: {
    unit: { format: 'DecimalSI', exponent: -9, name: 'cpu' },
    requestable: true,
    figure: ({ cpuNanoCores }) => cpuNanoCores,
    usageOf: (cpuNanoCores) => ({ cpuNanoCores }),
  },
  io: {
    unit: { ...BYTES, name: 'bytes per second of io' },
    requestable: false,
    figure: ({ ioBytesPerSecond }) => ioBytesPerSecond,
    usageOf: (ioBytesPerSecond) => ({ ioBytesPerSecond }),
  },
};

/** Volumes of these kinds are on the node's own disk; an emptyDir only if it is not in memory. */
const LOCAL_VOLUMES: readonly string[] = ['hostPath', 'gitRepo', 'configMap'];

const EVERYWHERE: readonly DiskPlace[] = ['layers', 'logs', 'volumes'];

/** Which places are on a filesystem in each layout (`buildSignalToRankFunc` in `pkg/kubelet/eviction/helpers.go`). */
const PLACES: Readonly<Record<DiskLayout, Readonly<Record<Filesystem, readonly DiskPlace[]>>>> = {
  single: { nodefs: EVERYWHERE, imagefs: EVERYWHERE, containerfs: EVERYWHERE },
  imagesAndLayersApart: { nodefs: ['logs', 'volumes'], imagefs: ['layers'], containerfs: ['layers'] },
  imagesApart: { nodefs: EVERYWHERE, imagefs: [], containerfs: EVERYWHERE },
};

/**
 * What a pod uses of the resource that a signal watches, in the signal's unit: bytes, inodes, processes, nanocores or
 * bytes per second. A missing figure counts as zero. A pressure signal ranks by consumption, never by a pod's own
 * stalls: the pod that took the memory shows none.
 */
export function measuredUsage(signal: Signal, layout: DiskLayout, pod: Pod, usage: PodUsage): number {
  if (!isDiskSignal(signal)) return RESOURCES[resourceOf(signal)].figure(usage) ?? 0;
  const { filesystem, unit } = DISK_MEASURES[signal];
  return diskUsage(PLACES[layout][filesystem], unit, pod, usage);
}

function isDiskSignal(signal: Signal): signal is DiskSignal {
  return signal in DISK_MEASURES;
}

/** Follows `podDiskUsage`. */
function diskUsage(places: readonly DiskPlace[], unit: keyof FilesystemUsage, pod: Pod, usage: PodUsage): number {
  let sum = 0;
  for (const place of places) sum += usageOfPlace(place, unit, pod, usage);
  return sum;
}

function usageOfPlace(place: DiskPlace, unit: keyof FilesystemUsage, pod: Pod, usage: PodUsage): number {
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

/** Follows `podLocalVolumeUsage`: the first of two statistics with the same name counts. */
function localVolumeUsage(unit: keyof FilesystemUsage, pod: Pod, usage: PodUsage): number {
  let sum = 0;
  for (const volume of pod.spec.volumes) {
    if (!isLocal(volume)) continue;
    sum += usage.volumes.find(({ name }) => name === volume.name)?.[unit] ?? 0;
  }
  return sum;
}

/** Whether what is written to a volume counts as use of the node's disk. Follows `localVolumeNames`. */
export function isLocal(volume: Volume): boolean {
  if (volume.source === 'emptyDir') return volume.emptyDirMedium === '';
  return LOCAL_VOLUMES.includes(volume.source);
}

/**
 * A pod's requests as the kubelet sees them: what is allocated counts, not what a pending resize asks for; pod-level resources hide those of the containers altogether, and overhead
 * is added only where something is requested (`GetResourceRequestQuantity` in `pkg/api/v1/resource/helpers.go`).
 */
export function kubeletRequests(pod: Pod): Amounts {
  const allocated = asAllocated(pod);
  const visible = hasPodLevelResources(allocated) ? withoutContainers(allocated) : allocated;
  const requests = podRequests(visible, { excludeOverhead: true });
  return pod.spec.overhead.size === 0 ? requests : withOverhead(requests, pod.spec.overhead);
}

function withoutContainers(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, containers: [], initContainers: [] } };
}

function withOverhead(requests: Amounts, overhead: Amounts): Amounts {
  return new Map(
    Array.from(requests, ([name, request]) => {
      const added = overhead.get(name);
      return [name, added === undefined || quantitySign(request) === 0 ? request : addQuantities(request, added)];
    }),
  );
}
