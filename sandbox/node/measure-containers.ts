import type { Clock } from '#shared/runtime/clock.ts';
import type { PodWorker } from './pods/pod-worker.ts';
import type { ProcessSource, ProcessUsage } from './processes/process-source.ts';

/** Reads what the containers of these pods use now. */
export type MeasureContainers = (workers: Iterable<PodWorker>) => Promise<Measurement>;

interface CpuReading {
  readonly at: number;
  readonly nanoSeconds: number;
  readonly nanoCores: number | undefined;
}

/** The kernel counts CPU time in steps of 10 ms; over a second that is 1 %. */
const CPU_WINDOW_MS = 1_000;

/** Remembers one CPU reading per process, to tell a rate from a sum. */
export function createMeasure(source: ProcessSource, clock: Clock): MeasureContainers {
  let readings = new Map<string, CpuReading>();

  return async (workers) => {
    const running = [...workers].flatMap(runningContainers);
    const usages: ReadonlyMap<number, ProcessUsage> =
      running.length === 0 ? new Map() : await source.read(running.map(({ pid }) => pid));
    const at = clock.now();
    const next = new Map<string, CpuReading>();
    const containers = running.flatMap(({ pid, ...container }): ContainerUsage[] => {
      const usage = usages.get(pid);
      if (usage === undefined) return [];
      const key = `${pid}/${container.startedAt}`;
      const reading = nextReading(readings.get(key), at, usage.cpuNanoSeconds);
      next.set(key, reading);
      return [{ ...container, ...usage, cpuNanoCores: reading.nanoCores }];
    });
    readings = next;
    return { at, containers };
  };
}

function nextReading(before: CpuReading | undefined, at: number, nanoSeconds: number): CpuReading {
  if (before === undefined) return { at, nanoSeconds, nanoCores: undefined };
  const elapsedMs = at - before.at;
  if (elapsedMs < CPU_WINDOW_MS) return before;
  return { at, nanoSeconds, nanoCores: Math.round(((nanoSeconds - before.nanoSeconds) * 1000) / elapsedMs) };
}

function runningContainers(worker: PodWorker) {
  const { name, namespace, uid } = worker.pod().metadata;
  const identity = { namespace: namespace ?? '', pod: name ?? '', podUid: uid ?? '' };
  const podStartedAt = worker.facts().startTime;
  return worker.runners.flatMap((runner) => {
    const { state, name: container } = runner.record();
    const pid = runner.pid();
    if (state.kind !== 'running' || pid === undefined) return [];
    return [{ ...identity, container, pid, startedAt: state.startedAt, podStartedAt }];
  });
}

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

/** One measurement of all containers of the node. */
export interface Measurement {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly containers: readonly ContainerUsage[];
}

/** Total memory of the pods of a node. */
export function usedBytes({ containers }: Measurement): number {
  return containers.reduce((sum, { workingSetBytes }) => sum + workingSetBytes, 0);
}
