import type { ProcessReading } from '#shared/domain/pressure/observation.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { NodeView } from '#agent/decide/snapshot/node-view.ts';
import { createCpuMeter } from '#agent/observe/kernel/cpu-meter.ts';
import { processCountSource, type ProcessCount } from '#agent/observe/kernel/process-count.ts';
import { createReclaimMeter } from '#agent/observe/kernel/reclaim-meter.ts';
import { createStallMeter } from '#agent/observe/kernel/stall-meter.ts';
import { stallSource } from '#agent/observe/kernel/stall.ts';
import { vmstatSource } from '#agent/observe/kernel/vmstat.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { watchSource, type WatchedSource } from '#agent/observe/source/watched-source.ts';

/** What the kernel does besides holding memory: processes, stalls, reclaim, CPU, OOM kills. */
export interface ActivityView extends Pick<NodeView, 'stalls' | 'cpu' | 'reclaim' | 'oomKills'> {
  readonly processes: ProcessReading | undefined;
}

export interface KernelActivity {
  readonly readNode: (nowMs: number) => ActivityView;
  readonly sources: readonly WatchedSource<unknown>[];
}

const STALLING = ['memory', 'cpu', 'io'] as const;

/** The kernel's activity from /proc alone; no cgroup is needed. */
export function createKernelActivity(proc: string, clock: Clock): KernelActivity {
  const vmstat = watchSource(vmstatSource(proc), clock);
  const tasks = watchSource(processCountSource(proc), clock);
  const cpu = createCpuMeter(proc, clock);
  const stalls = STALLING.map((resource) => openStalls(resource, proc, clock));
  const reclaim = createReclaimMeter();

  function readNode(nowMs: number): ActivityView {
    const counters = vmstat.read();
    reclaim.note(counters, nowMs);
    for (const { source, meter } of stalls) meter.note(source.read(), nowMs);
    return {
      processes: processes(valueOf(tasks.read()), nowMs),
      stalls: stalls.flatMap(({ meter }) => meter.ratios()),
      cpu: cpu.read(nowMs),
      reclaim: reclaim.rates(),
      oomKills: valueOf(counters)?.oomKills,
    };
  }
  return { readNode, sources: [vmstat, tasks, cpu.source, ...stalls.map(({ source }) => source)] };
}

function openStalls(resource: (typeof STALLING)[number], proc: string, clock: Clock) {
  const source = stallSource(`${resource}-stalls`, `${proc}/pressure`, resource);
  return { source: watchSource(source, clock), meter: createStallMeter(`${resource}.pressure`) };
}

function processes(count: ProcessCount | undefined, at: number): ProcessReading | undefined {
  return count === undefined ? undefined : { at, maximum: count.most, running: count.tasks };
}
