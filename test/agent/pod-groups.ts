import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** How a kubelet names the groups of pods. */
export type Driver = 'cgroupfs' | 'systemd';

/** What one pod may use. */
export interface PodLimit {
  readonly memoryBytes?: number;
  readonly cpus?: number;
}

/** Real cgroups of this machine, made for a test or benchmark and removed after it. */
export interface PodGroups {
  readonly version: 'v1' | 'v2';
  /** Below each controller's tree; the agent's setting `path.kubepods`. */
  readonly kubepods: string;
  readonly uids: readonly string[];
  /** A pod's group, below each controller's tree. */
  readonly pathOf: (uid: string) => string;
  /** Moves a process into one pod's group. */
  readonly join: (uid: string, pid: number) => void;
  /** Limits all pods together, as the kubelet does on a node. */
  readonly limit: (bytes: number) => void;
  readonly limitPod: (uid: string, limit: PodLimit) => void;
  /** May be called twice. */
  readonly remove: () => void;
}

const ROOT = '/sys/fs/cgroup';
const V1_TREES = ['memory', 'cpu', 'cpuacct', 'pids', 'blkio', 'unified'] as const;
const CONTROLLERS = '+memory +cpu +pids +io';
const CPU_PERIOD_US = 100_000;
/** Of the group of all pods, by the process that made it. */
const OWN_NAME = /^plimsoll(?<pid>\d+)(\.slice)?$/;

const isV2 = existsSync(`${ROOT}/cgroup.controllers`);
const trees: readonly string[] = isV2 ? [ROOT] : V1_TREES.map((tree) => `${ROOT}/${tree}`);

interface Names {
  readonly kubepods: string;
  readonly burstable: string;
  readonly podOf: (uid: string) => string;
}

/** systemd repeats the parents in each name and takes no dash of a UID. */
const NAMES: Readonly<Record<Driver, (own: string) => Names>> = {
  cgroupfs: (own) => ({ kubepods: own, burstable: 'burstable', podOf: (uid) => `pod${uid}` }),
  systemd: (own) => ({
    kubepods: `${own}.slice`,
    burstable: `${own}-burstable.slice`,
    podOf: (uid) => `${own}-burstable-pod${uid.replaceAll('-', '_')}.slice`,
  }),
};

/** Makes `count` Burstable pod groups under a group of its own; throws where cgroups may not be made. */
export function createPodGroups(count: number, driver: Driver = 'cgroupfs'): PodGroups {
  removeAbandoned();
  const { kubepods, burstable, podOf } = NAMES[driver](`plimsoll${process.pid}`);
  const uids = Array.from({ length: count }, (_, index) => `uid-${String(index).padStart(5, '0')}`);
  const parents = [kubepods, `${kubepods}/${burstable}`];
  const pathOf = (uid: string): string => `${kubepods}/${burstable}/${podOf(uid)}`;
  const paths = [...parents, ...uids.map(pathOf)];
  for (const tree of trees) for (const path of paths) mkdirSync(`${tree}/${path}`, { recursive: true });
  if (isV2) for (const path of ['', ...parents]) writeFileSync(`${ROOT}/${path}/cgroup.subtree_control`, CONTROLLERS);
  return {
    version: isV2 ? 'v2' : 'v1',
    kubepods,
    uids,
    pathOf,
    join: (uid, pid) => {
      for (const tree of trees) writeFileSync(`${tree}/${pathOf(uid)}/cgroup.procs`, String(pid));
    },
    limit: (bytes) => limitMemory(kubepods, bytes),
    limitPod: (uid, { memoryBytes, cpus }) => {
      if (memoryBytes !== undefined) limitMemory(pathOf(uid), memoryBytes);
      if (cpus !== undefined) limitCpu(pathOf(uid), cpus);
    },
    remove: () => {
      const folders = trees.flatMap((tree) => paths.toReversed().map((path) => `${tree}/${path}`));
      for (const folder of folders.filter((each) => existsSync(each))) rmdirSync(folder);
    },
  };
}

/** The groups of processes that are gone without having removed them. */
function removeAbandoned(): void {
  for (const tree of trees) {
    const owners = readdirSync(tree).map((name) => [name, OWN_NAME.exec(name)?.groups?.['pid']] as const);
    for (const [name, pid] of owners)
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeTree(`${tree}/${name}`);
  }
}

function removeTree(folder: string): void {
  const children = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of children) removeTree(`${folder}/${name}`);
  rmdirSync(folder);
}

function limitMemory(path: string, bytes: number): void {
  const file = isV2 ? `${ROOT}/${path}/memory.max` : `${ROOT}/memory/${path}/memory.limit_in_bytes`;
  writeFileSync(file, String(bytes));
}

function limitCpu(path: string, cpus: number): void {
  const quota = Math.round(cpus * CPU_PERIOD_US);
  if (isV2) writeFileSync(`${ROOT}/${path}/cpu.max`, `${quota} ${CPU_PERIOD_US}`);
  else writeFileSync(`${ROOT}/cpu/${path}/cpu.cfs_quota_us`, String(quota));
}

/** Why real cgroups cannot be made here, `undefined` if they can: it takes the right to write below the root. */
export function whyNoPodGroups(): string | undefined {
  try {
    for (const tree of trees) accessSync(tree, constants.W_OK);
    return undefined;
  } catch (error) {
    return `no writable cgroups: ${String(error)}`;
  }
}
