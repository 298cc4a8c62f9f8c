import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';

/** A pod of which only its memory was measured. */
export function podUsage(uid: string, workingSetBytes: number): PodUsage {
  return {
    uid,
    memory: { at: undefined, workingSetBytes },
    processCount: undefined,
    cpuNanoCores: undefined,
    ioBytesPerSecond: undefined,
    ephemeralStorageBytes: undefined,
    containers: [],
    volumes: [],
  };
}
