import { type ContainerUsage, type Measurement, usedBytes } from './measure-containers.ts';

/** Disk space under the sandbox, as `statfs` gives it. */
export interface DiskSpace {
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
}

export interface SummaryFacts {
  readonly nodeName: string;
  readonly startedAt: number;
  readonly memoryBytes: number;
  readonly measurement: Measurement;
  readonly disk: DiskSpace;
}

/** Far more than the sandbox may start, so that it never runs out of process numbers. */
const MAX_PROCESSES = 32_768;

/**
 * The kubelet's `/stats/summary` (`staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go`). A virtual node has no
 * pressure stall figures: they are left out rather than written as zero.
 */
export function statsSummary(facts: SummaryFacts) {
  const { measurement, memoryBytes, disk } = facts;
  const time = new Date(measurement.at).toISOString();
  const cpu = { time, ...cpuOf(measurement.containers) };
  const memory = { time, ...memoryOf(measurement.containers), availableBytes: available(measurement, memoryBytes) };
  const startTime = new Date(facts.startedAt).toISOString();
  const space = { time, ...disk, usedBytes: disk.capacityBytes - disk.availableBytes };
  const fs = { ...space, ...inodesUsed(disk) };
  return {
    node: {
      nodeName: facts.nodeName,
      systemContainers: [{ name: 'pods', startTime, cpu, memory }],
      startTime,
      cpu,
      memory,
      fs,
      runtime: { imageFs: fs, containerFs: fs },
      rlimit: { time, maxpid: MAX_PROCESSES, curproc: measurement.containers.length },
    },
    pods: [...Map.groupBy(measurement.containers, ({ podUid }) => podUid).values()].map((each) => podStats(each, time)),
  };
}

function inodesUsed({ inodes, inodesFree }: DiskSpace) {
  return inodes === undefined || inodesFree === undefined ? {} : { inodesUsed: inodes - inodesFree };
}

/** What is left of the node's memory; the pods may briefly hold more than it has. */
export function available(measurement: Measurement, memoryBytes: number): number {
  return Math.max(0, memoryBytes - usedBytes(measurement));
}

function podStats(containers: readonly ContainerUsage[], time: string) {
  const [first] = containers;
  return {
    podRef: { name: first?.pod, namespace: first?.namespace, uid: first?.podUid },
    startTime: new Date(first?.podStartedAt ?? 0).toISOString(),
    containers: containers.map((each) => ({
      name: each.container,
      startTime: new Date(each.startedAt).toISOString(),
      cpu: { time, ...cpuOf([each]) },
      memory: { time, ...memoryOf([each]) },
    })),
    cpu: { time, ...cpuOf(containers) },
    memory: { time, ...memoryOf(containers) },
    process_stats: { process_count: containers.length },
  };
}

/** Without a second reading there is no rate: the field is absent, not zero. */
function cpuOf(containers: readonly ContainerUsage[]) {
  const rates = containers.map(({ cpuNanoCores }) => cpuNanoCores);
  const usageNanoCores = rates.includes(undefined)
    ? undefined
    : rates.reduce<number>((sum, rate) => sum + (rate ?? 0), 0);
  const usageCoreNanoSeconds = containers.reduce((sum, { cpuNanoSeconds }) => sum + cpuNanoSeconds, 0);
  return { ...(usageNanoCores !== undefined && { usageNanoCores }), usageCoreNanoSeconds };
}

function memoryOf(containers: readonly ContainerUsage[]) {
  const workingSetBytes = containers.reduce((sum, each) => sum + each.workingSetBytes, 0);
  const usageBytes = containers.reduce((sum, each) => sum + each.rssBytes, 0);
  return { usageBytes, workingSetBytes, rssBytes: workingSetBytes };
}
