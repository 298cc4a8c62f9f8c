import type { ContainerUsage, FilesystemUsage, PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { NO_POD_PRESSURES } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { type CgroupLayout, podCgroupPath, type PodCgroupName } from '#agent/observe/cgroup/cgroup-layout.ts';
import { memoryCgroupSource, type CgroupMemory } from '#agent/observe/cgroup/memory-cgroup.ts';
import type { UsageDepth } from '#shared/decide/eviction/memory-trend.ts';
import type { NodeSource, ObservedPod } from './node-source.ts';
import { nextSample, type PodSample } from '#agent/observe/cgroup/pod-rates.ts';
import { valueOf, type Reading, type Source } from '#agent/observe/source/source.ts';
import {
  closeDetails,
  openDetails,
  readDetails,
  type CgroupDetails,
  type DetailSources,
  type CgroupPids,
} from '#agent/observe/cgroup/cgroup-details.ts';

const NO_DISK: FilesystemUsage = { usedBytes: undefined, inodesUsed: undefined };
/** Prefixes and suffixes that runtimes add to a container's ID in its cgroup name; none with the cgroupfs driver. */
const SCOPES: readonly (readonly [prefix: string, suffix: string])[] = [
  ['', ''],
  ['cri-containerd-', '.scope'],
  ['crio-', '.scope'],
  ['docker-', '.scope'],
];

type KernelPods = Pick<NodeSource, 'follow' | 'usage' | 'podPressures' | 'containers' | 'whyUnmeasured' | 'close'>;

/** Statistics of the node's pods from their cgroups. A pod whose cgroup cannot be read is left out. */
export function createKernelPods(layout: CgroupLayout): KernelPods {
  const scanner = createPodScanner(layout);
  const samples = new Map<string, PodSample>();
  /** Process counts newer than the last sample, by UID. */
  const processes = new Map<string, number>();
  let podPressures = NO_POD_PRESSURES;
  let unmeasured: string | undefined;
  let followed: ReadonlyMap<string, ObservedPod> = new Map();

  function follow(pods: readonly ObservedPod[]): void {
    followed = new Map(pods.map((pod) => [pod.uid, pod]));
    scanner.follow(pods.map(({ cgroup }) => cgroup));
    for (const uid of samples.keys()) if (!followed.has(uid)) samples.delete(uid);
  }

  function measure(pod: ObservedPod, nowMs: number): PodUsage | undefined {
    const answer = scanner.readMemory(pod.cgroup.uid);
    const memory = valueOf(answer);
    if (memory === undefined) {
      if (pod.isRunning && answer !== undefined && 'because' in answer) unmeasured = answer.because;
      return undefined;
    }
    const rates = samples.get(pod.uid)?.rates;
    return {
      uid: pod.uid,
      memory: { at: nowMs, workingSetBytes: memory.workingSetBytes },
      processCount: processes.get(pod.uid) ?? rates?.processCount,
      cpuNanoCores: rates?.cpuNanoCores,
      ioBytesPerSecond: rates?.ioBytesPerSecond,
      containers: [],
      volumes: [],
    };
  }

  function countProcesses({ uid, cgroup }: ObservedPod): void {
    const tasks = valueOf(scanner.readProcesses(cgroup.uid))?.tasks;
    if (tasks !== undefined) processes.set(uid, tasks);
  }

  function usage(depth: UsageDepth, nowMs: number): UsageByUid {
    const seen = new Map<string, PodUsage>();
    unmeasured = undefined;
    if (depth !== 'memory') processes.clear();
    for (const pod of followed.values()) {
      if (depth === 'all')
        samples.set(pod.uid, nextSample(samples.get(pod.uid), scanner.readDetails(pod.cgroup.uid), nowMs));
      if (depth === 'processes') countProcesses(pod);
      const measured = measure(pod, nowMs);
      if (measured !== undefined) seen.set(pod.uid, measured);
    }
    if (depth === 'all') podPressures = new Map(Array.from(samples, ([uid, { rates }]) => [uid, rates.podPressure]));
    return seen;
  }

  return {
    follow,
    usage,
    podPressures: () => podPressures,
    containers: (uid) => containersOf(layout, followed.get(uid)),
    whyUnmeasured: () => unmeasured,
    close: scanner.close,
  };
}

function containersOf(layout: CgroupLayout, pod: ObservedPod | undefined): readonly ContainerUsage[] {
  if (pod === undefined) return [];
  const directory = podCgroupPath(layout, pod.cgroup);
  return pod.containers.map(({ name, id }) => ({
    name,
    workingSetBytes: containerMemory(layout, directory, id),
    rootfs: NO_DISK,
    logs: NO_DISK,
  }));
}

function containerMemory(layout: CgroupLayout, directory: string, id: string): number | undefined {
  for (const [prefix, suffix] of SCOPES) {
    const source = memoryCgroupSource(layout, `${directory}/${prefix}${id}${suffix}`);
    const memory = valueOf(source.read());
    source.close();
    if (memory !== undefined) return memory.workingSetBytes;
  }
  return undefined;
}

/** Reads the cgroups of the followed pods; it never walks the tree. */
export interface PodScanner {
  /** Opens the files of new pods and closes those of removed pods. */
  readonly follow: (pods: readonly PodCgroupName[]) => void;
  /** Two files per pod, so that it can run every 100 ms near a threshold. */
  readonly readMemory: (uid: string) => Reading<CgroupMemory> | undefined;
  /** One file per pod. */
  readonly readProcesses: (uid: string) => Reading<CgroupPids> | undefined;
  readonly readDetails: (uid: string) => CgroupDetails | undefined;
  readonly close: () => void;
}

interface PodCgroup {
  readonly path: string;
  readonly memory: Source<CgroupMemory>;
  readonly details: DetailSources;
}

function openSources(layout: CgroupLayout, path: string): PodCgroup {
  return { path, memory: memoryCgroupSource(layout, path), details: openDetails(layout, path) };
}

/** Keyed by the UID given to `follow`. */
export function createPodScanner(layout: CgroupLayout): PodScanner {
  const open = new Map<string, PodCgroup>();

  function drop(uid: string, sources: PodCgroup): void {
    sources.memory.close();
    closeDetails(sources.details);
    open.delete(uid);
  }

  function follow(pods: readonly PodCgroupName[]): void {
    const paths = new Map(pods.map((pod) => [pod.uid, podCgroupPath(layout, pod)]));
    for (const [uid, sources] of open) if (paths.get(uid) !== sources.path) drop(uid, sources);
    for (const [uid, path] of paths) if (!open.has(uid)) open.set(uid, openSources(layout, path));
  }

  function detailsOf(uid: string): CgroupDetails | undefined {
    const sources = open.get(uid);
    return sources === undefined ? undefined : readDetails(sources.details);
  }

  function close(): void {
    for (const [uid, sources] of open) drop(uid, sources);
  }
  return {
    follow,
    readMemory: (uid) => open.get(uid)?.memory.read(),
    readProcesses: (uid) => open.get(uid)?.details.pids.read(),
    readDetails: detailsOf,
    close,
  };
}
