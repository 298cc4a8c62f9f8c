/** What a process uses. */
export interface ProcessUsage {
  /** Anonymous and shared memory: what ends with the process. */
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  /** CPU time since its start. */
  readonly cpuNanoSeconds: number;
}

/** What the node can measure its processes with. */
export const PROCESS_SOURCES = ['procfs', 'systeminformation', 'node-os-utils'] as const;
export type ProcessSourceName = (typeof PROCESS_SOURCES)[number];

/** Measures processes. */
export interface ProcessSource {
  /** What it measures with, for messages. */
  readonly name: string;
  /** How often it is worth to be asked. */
  readonly periodMs: number;
  /** Usage by process number; processes that are gone are missing. Rejects when processes cannot be listed. */
  readonly read: (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessUsage>>;
}
