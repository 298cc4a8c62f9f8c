import type { CgroupLayout } from './cgroup-layout.ts';
import { cpuCgroupSource } from './cpu-cgroup.ts';
import { ioCgroupSource } from './io-cgroup.ts';
import { pidsCgroupSource } from './pids-cgroup.ts';
import { nextSample, type PodRates, type PodSample } from './pod-rates.ts';

/** The whole node or all pods together. */
export type GroupName = 'node' | 'pods';

/** Usage of a cgroup; `undefined` where the kernel does not count it. */
export type GroupUsage = Omit<PodRates, 'podPressure'>;

export type GroupUsages = ReadonlyMap<GroupName, GroupUsage>;

export const NO_GROUPS: GroupUsages = new Map();

/** Measures the root cgroup and the cgroup of all pods from one sample to the next. */
export interface GroupMeter {
  readonly measure: (nowMs: number) => void;
  readonly usages: () => GroupUsages;
  readonly close: () => void;
}

/** Creates a meter without samples. */
export function createGroupMeter(layout: CgroupLayout): GroupMeter {
  const groups = [
    ['node', openGroup(layout, '')],
    ['pods', openGroup(layout, layout.kubepods)],
  ] as const;
  const samples = new Map<GroupName, PodSample>();
  return {
    measure: (nowMs) => {
      for (const [name, sources] of groups) samples.set(name, nextSample(samples.get(name), readGroup(sources), nowMs));
    },
    usages: () => new Map(Array.from(samples, ([name, { rates }]) => [name, rates])),
    close: () => {
      for (const [, { cpu, pids, io }] of groups) for (const source of [cpu, pids, io]) source.close();
    },
  };
}

/** Only what metrics show: stalls and memory of these cgroups are read elsewhere. */
function openGroup(layout: CgroupLayout, path: string) {
  return {
    cpu: cpuCgroupSource(layout, path),
    pids: pidsCgroupSource(layout, path),
    io: ioCgroupSource(layout, path),
  };
}

function readGroup({ cpu, pids, io }: ReturnType<typeof openGroup>) {
  return { cpu: cpu.read(), pids: pids.read(), io: io.read() };
}
