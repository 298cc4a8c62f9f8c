import { closeDetails, openDetails, readDetails } from './cgroup-details.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { nextBeat, type PodBeat } from './pod-rates.ts';

/** The whole node, or all pods together. */
export type GroupName = 'node' | 'pods';

/** What a group of processes does; `undefined` where the kernel does not count it for that group. */
export interface GroupUsage {
  readonly processCount: number | undefined;
  readonly cpuNanoCores: number | undefined;
  readonly ioBytesPerSecond: number | undefined;
}

export type GroupUsages = ReadonlyMap<GroupName, GroupUsage>;

export const NO_GROUPS: GroupUsages = new Map();

/** Measures the root cgroup and the one above all pods, from one beat to the next. */
export interface GroupMeter {
  readonly measure: (nowMs: number) => void;
  readonly usages: () => GroupUsages;
  readonly close: () => void;
}

/** A meter that has measured nothing yet. */
export function createGroupMeter(layout: CgroupLayout): GroupMeter {
  const groups = [
    ['node', openDetails(layout, '')],
    ['pods', openDetails(layout, layout.kubepods)],
  ] as const;
  const beats = new Map<GroupName, PodBeat>();
  return {
    measure: (nowMs) => {
      for (const [name, sources] of groups) beats.set(name, nextBeat(beats.get(name), readDetails(sources), nowMs));
    },
    usages: () => new Map(Array.from(beats, ([name, { rates }]) => [name, rates])),
    close: () => {
      for (const [, sources] of groups) closeDetails(sources);
    },
  };
}
