import { existsSync, readFileSync } from 'node:fs';
import type { QosClass } from '#shared/domain/pod/pod-requests.ts';

/** Where this node's cgroup files are; directories are absolute, `undefined` if the node has no such tree. */
export interface CgroupLayout extends PodsPlace {
  readonly version: 'v1' | 'v2';
  readonly memory: string;
  readonly cpu: string | undefined;
  readonly cpuAccounting: string | undefined;
  readonly pids: string | undefined;
  readonly io: string | undefined;
  /** The tree whose cgroups have cpu.pressure, memory.pressure and io.pressure. */
  readonly pressure: string | undefined;
}

export type LayoutFound =
  { readonly kind: 'layout'; readonly layout: CgroupLayout } | { readonly kind: 'unknown'; readonly because: string };

/** Where kubelets create pod cgroups, by driver, also below a `--cgroup-root` of `kubelet`. */
const KUBEPODS: readonly PodsPlace[] = [
  { kubepods: 'kubepods.slice', driver: 'systemd' },
  { kubepods: 'kubepods', driver: 'cgroupfs' },
  { kubepods: 'kubelet.slice/kubelet-kubepods.slice', driver: 'systemd' },
  { kubepods: 'kubelet/kubepods', driver: 'cgroupfs' },
];

function firstExisting(...directories: string[]): string | undefined {
  return directories.find((directory) => existsSync(directory));
}

function hasMemoryController(root: string): boolean {
  const file = `${root}/cgroup.controllers`;
  return existsSync(file) && readFileSync(file, 'utf8').split(/\s+/).includes('memory');
}

type Trees = Omit<CgroupLayout, 'driver' | 'kubepods'>;

function v2Trees(root: string): Trees {
  return { version: 'v2', memory: root, cpu: root, cpuAccounting: root, pids: root, io: root, pressure: root };
}

/** On v1 each controller has its own tree; PSI is in the additional v2 tree of hybrid nodes. */
function v1Trees(root: string, memory: string): Trees {
  const unified = `${root}/unified`;
  return {
    version: 'v1',
    memory,
    cpu: firstExisting(`${root}/cpu`, `${root}/cpu,cpuacct`),
    cpuAccounting: firstExisting(`${root}/cpuacct`, `${root}/cpu,cpuacct`),
    pids: firstExisting(`${root}/pids`),
    io: firstExisting(`${root}/blkio`),
    pressure: existsSync(`${unified}/cgroup.controllers`) ? unified : undefined,
  };
}

function findTrees(root: string): Trees | undefined {
  if (hasMemoryController(root)) return v2Trees(root);
  const memory = firstExisting(`${root}/memory`);
  return memory === undefined ? undefined : v1Trees(root, memory);
}

/** With a slash at either end or two in the middle it is the same path; the last part tells the driver. */
function configuredPlace(setting: string): PodsPlace {
  const parts = setting.split('/').filter((part) => part !== '' && part !== '.');
  return { kubepods: parts.join('/'), driver: parts.at(-1)?.endsWith('.slice') === true ? 'systemd' : 'cgroupfs' };
}

/** Of several kubepods cgroups, the one that has any of the pods: another driver may have left an old one. */
function findPlace(memory: string, { setting, pods }: PlaceQuery): PodsPlace | undefined {
  const candidates = setting === undefined ? KUBEPODS : [configuredPlace(setting)];
  const there = candidates.filter(({ kubepods }) => kubepods !== '' && existsSync(`${memory}/${kubepods}`));
  const hasAny = (place: PodsPlace): boolean =>
    pods.some((pod) => existsSync(`${memory}/${podCgroupPath(place, pod)}`));
  return there.find(hasAny) ?? there[0];
}

interface PlaceQuery {
  /** The configured path of the cgroup of all pods. */
  readonly setting: string | undefined;
  readonly pods: readonly PodCgroupName[];
}

/**
 * Inspects the mounted cgroup root once: version, driver and the cgroup of all pods; `pods` decide between several.
 * Containers get a private cgroup namespace, so `root` must be the host's tree. An unknown layout is returned as such,
 * never guessed.
 */
export function findCgroupLayout(
  root: string,
  kubepodsSetting?: string,
  pods: readonly PodCgroupName[] = [],
): LayoutFound {
  const trees = findTrees(root);
  if (trees === undefined) {
    return { kind: 'unknown', because: `no memory controller below ${root}: expected cgroup.controllers or memory/` };
  }
  const place = findPlace(trees.memory, { setting: kubepodsSetting, pods });
  if (place === undefined) {
    const expected = kubepodsSetting ?? KUBEPODS.map(({ kubepods }) => kubepods).join(', ');
    return { kind: 'unknown', because: `no cgroup of all pods below ${trees.memory}: expected ${expected}` };
  }
  return { kind: 'layout', layout: { ...trees, ...place } };
}

/** Where a kubelet creates the cgroups of its pods. */
export interface PodsPlace {
  readonly driver: 'cgroupfs' | 'systemd';
  /** Path of the cgroup of all pods below each root, such as `kubepods` or `kubepods.slice`. */
  readonly kubepods: string;
}

/** The identifier in the name of a pod's cgroup. */
export interface PodCgroupName {
  /** For a static pod, the hash in its `kubernetes.io/config.mirror` annotation: the kubelet knows no other UID. */
  readonly uid: string;
  readonly qos: QosClass;
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** systemd names a slice after all its parents: `kubepods-burstable-podUID.slice`, dashes of the UID as underscores. */
function systemdPath(kubepods: string, { uid, qos }: PodCgroupName): string {
  const stem = lastPart(kubepods).replace(/\.slice$/, '');
  const escaped = uid.replaceAll('-', '_');
  if (qos === 'Guaranteed') return `${kubepods}/${stem}-pod${escaped}.slice`;
  const level = `${stem}-${qos.toLowerCase()}`;
  return `${kubepods}/${level}.slice/${level}-pod${escaped}.slice`;
}

function cgroupfsPath(kubepods: string, { uid, qos }: PodCgroupName): string {
  const level = qos === 'Guaranteed' ? kubepods : `${kubepods}/${qos.toLowerCase()}`;
  return `${level}/pod${uid}`;
}

/** Path of the pod's cgroup below each tree, as the kubelet names it. */
export function podCgroupPath(place: PodsPlace, pod: PodCgroupName): string {
  return place.driver === 'systemd' ? systemdPath(place.kubepods, pod) : cgroupfsPath(place.kubepods, pod);
}
