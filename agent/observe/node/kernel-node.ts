import type { ProcessReading } from '#shared/domain/pressure/observation.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createGroupMeter } from '#agent/observe/cgroup/group-meter.ts';
import { createCpuMeter } from '#agent/observe/kernel/cpu-meter.ts';
import { processCountSource, type ProcessCount } from '#agent/observe/kernel/process-count.ts';
import { createReclaimMeter } from '#agent/observe/kernel/reclaim-meter.ts';
import { createStallMeter } from '#agent/observe/kernel/stall-meter.ts';
import { stallSource } from '#agent/observe/kernel/stall.ts';
import { vmstatSource } from '#agent/observe/kernel/vmstat.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { watchSource } from '#agent/observe/source/watched-source.ts';
import type { NodeView } from '#agent/decide/snapshot/node-view.ts';
import type { UsageDepth } from '#agent/decide/measuring-depth.ts';
import { createKernelDisks, type DiskPaths } from './kernel-disks.ts';
import { createKernelMemory } from './kernel-memory.ts';
import { createKernelPods } from './kernel-pods.ts';
import type { NodeSource } from './node-source.ts';

export interface KernelNodeOptions extends DiskPaths {
  readonly proc: string;
  readonly layout: CgroupLayout;
  readonly clock: Clock;
}

const STALLING = ['memory', 'cpu', 'io'] as const;

/** The node from its kernel files: milliseconds old, and independent of kubelet and API server. */
export function createKernelNode({ proc, layout, clock, ...paths }: KernelNodeOptions): NodeSource {
  const memory = createKernelMemory(proc, layout, clock);
  const vmstat = watchSource(vmstatSource(proc), clock);
  const tasks = watchSource(processCountSource(proc), clock);
  const cpu = createCpuMeter(proc, clock);
  const stalls = STALLING.map((resource) => openStalls(resource, proc, clock));
  const reclaim = createReclaimMeter();
  const disks = createKernelDisks(paths, clock);
  const pods = createKernelPods(layout);
  const groups = createGroupMeter(layout);
  const sources = [...memory.sources, vmstat, tasks, cpu.source, ...stalls.map(({ source }) => source)];

  function readNode(nowMs: number): NodeView {
    const seen = memory.readNode(nowMs);
    const counters = vmstat.read();
    reclaim.note(counters, nowMs);
    for (const { source, meter } of stalls) meter.note(source.read(), nowMs);
    return {
      readings: { ...seen.kubelet, ...disks.readings(), processes: processes(valueOf(tasks.read()), nowMs) },
      reclaimable: seen.reclaimable,
      stalls: stalls.flatMap(({ meter }) => meter.ratios()),
      cpu: cpu.read(nowMs),
      reclaim: reclaim.rates(),
      oomKills: valueOf(counters)?.oomKills,
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

function openStalls(resource: (typeof STALLING)[number], proc: string, clock: Clock) {
  const source = stallSource(`${resource}-stalls`, `${proc}/pressure`, resource);
  return { source: watchSource(source, clock), meter: createStallMeter(`${resource}.pressure`) };
}

function processes(count: ProcessCount | undefined, at: number): ProcessReading | undefined {
  return count === undefined ? undefined : { at, maximum: count.most, running: count.tasks };
}
