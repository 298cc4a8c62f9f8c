import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Real cgroups of this machine (v1), made for a test or benchmark and removed after it. */
export interface PodGroups {
  /** Below each controller's tree; what the agent is told as `path.kubepods`. */
  readonly kubepods: string;
  readonly uids: readonly string[];
  /** Moves a process into one pod's memory group. */
  readonly join: (uid: string, pid: number) => void;
  /** Limits all pods together, as the kubelet does on a node. */
  readonly limit: (bytes: number) => void;
  readonly remove: () => void;
}

const ROOT = '/sys/fs/cgroup';
const TREES = ['memory', 'cpu', 'cpuacct', 'pids', 'blkio', 'unified'] as const;

/** Makes `count` Burstable pod groups under a group of its own; throws where cgroups may not be made. */
export function createPodGroups(count: number): PodGroups {
  const kubepods = `plimsoll-${process.pid}`;
  const uids = Array.from({ length: count }, (_, index) => `uid-${String(index).padStart(5, '0')}`);
  const paths = [kubepods, `${kubepods}/burstable`, ...uids.map((uid) => `${kubepods}/burstable/pod${uid}`)];
  for (const tree of TREES) for (const path of paths) mkdirSync(`${ROOT}/${tree}/${path}`, { recursive: true });
  return {
    kubepods,
    uids,
    join: (uid, pid) => {
      for (const tree of TREES)
        writeFileSync(`${ROOT}/${tree}/${kubepods}/burstable/pod${uid}/cgroup.procs`, String(pid));
    },
    limit: (bytes) => writeFileSync(`${ROOT}/memory/${kubepods}/memory.limit_in_bytes`, String(bytes)),
    remove: () => {
      for (const tree of TREES) for (const path of paths.toReversed()) rmdirSync(`${ROOT}/${tree}/${path}`);
    },
  };
}

/** Why real cgroups cannot be made here, `undefined` if they can: it needs a v1 machine and the right to write there. */
export function whyNoPodGroups(): string | undefined {
  try {
    for (const tree of TREES) accessSync(`${ROOT}/${tree}`, constants.W_OK);
    return undefined;
  } catch (error) {
    return `no writable cgroup v1 trees: ${String(error)}`;
  }
}
