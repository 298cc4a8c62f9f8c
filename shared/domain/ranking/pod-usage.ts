import type { Instant } from '#shared/domain/pod/pod.ts';

/** What one pod uses, as in the kubelet's statistics: whole units, `undefined` where a figure is missing. */
export interface PodUsage {
  /** The only thing that ties statistics to a pod. */
  readonly uid: string;
  /** Absent is not the same as present without a working set: messages distinguish them. */
  readonly memory: MemoryUsage | undefined;
  readonly processCount: number | undefined;
  readonly cpuNanoCores: number | undefined;
  /** Read and written. */
  readonly ioBytesPerSecond: number | undefined;
  /** Writable layers, logs, local volumes and /etc/hosts together. */
  readonly ephemeralStorageBytes: number | undefined;
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

/** Statistics by pod UID; of several for one UID the last counts. */
export type UsageByUid = ReadonlyMap<string, PodUsage>;

/** Indexes statistics (`cachedStatsFunc` in `pkg/kubelet/eviction/helpers.go`). */
export function usageByUid(usages: readonly PodUsage[]): UsageByUid {
  return new Map(usages.map((usage) => [usage.uid, usage]));
}
