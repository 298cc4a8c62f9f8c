/** What one container used at one moment. */
export interface ContainerUsage {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly container: string;
  readonly startedAt: number;
  readonly podStartedAt: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly cpuNanoSeconds: number;
  /** Over the last second or so; `undefined` until there are two readings. */
  readonly cpuNanoCores: number | undefined;
}

/** One look at all containers of the node. */
export interface Measurement {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly containers: readonly ContainerUsage[];
}

/** Memory that the pods of a node hold together. */
export function usedBytes({ containers }: Measurement): number {
  return containers.reduce((sum, { workingSetBytes }) => sum + workingSetBytes, 0);
}
