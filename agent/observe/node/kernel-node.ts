import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createGroupMeter } from '#agent/observe/cgroup/group-meter.ts';
import type { NodeView } from '#agent/decide/snapshot/node-view.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import { createKernelActivity } from './kernel-activity.ts';
import { createKernelDisks, type DiskPaths } from './kernel-disks.ts';
import { createKernelMemory } from './kernel-memory.ts';
import { createKernelPods } from './kernel-pods.ts';
import type { NodeSource } from './node-source.ts';

export interface KernelNodeOptions extends DiskPaths {
  readonly proc: string;
  readonly layout: CgroupLayout;
  readonly clock: Clock;
}

/** The node from its kernel files: milliseconds old, and independent of kubelet and API server. */
export function createKernelNode({ proc, layout, clock, ...paths }: KernelNodeOptions): NodeSource {
  const memory = createKernelMemory(proc, layout, clock);
  const activity = createKernelActivity(proc, clock);
  const disks = createKernelDisks(paths, clock);
  const pods = createKernelPods(layout);
  const groups = createGroupMeter(layout);
  const sources = [...memory.sources, ...activity.sources];

  function readNode(nowMs: number): NodeView {
    const seen = memory.readNode(nowMs);
    const { processes, ...others } = activity.readNode(nowMs);
    return {
      readings: { ...seen.kubelet, ...disks.readings(), processes },
      reclaimable: seen.reclaimable,
      ...others,
    };
  }

  function usage(depth: UsageDepth, nowMs: number): UsageByUid {
    if (depth === 'all') groups.measure(nowMs);
    return pods.usage(depth, nowMs);
  }

  function close(): void {
    for (const source of [...sources, memory, pods, groups]) source.close();
  }

  return {
    kind: 'kernel',
    readNode,
    follow: pods.follow,
    usage,
    podPressures: pods.podPressures,
    groups: groups.usages,
    containers: pods.containers,
    whyUnmeasured: pods.whyUnmeasured,
    fallback: () => undefined,
    health: () => [...sources.map((source) => source.health()), ...disks.health()],
    run: disks.run,
    close,
  };
}
