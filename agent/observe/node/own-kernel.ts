import { readFileSync } from 'node:fs';
import { areOfOneMachine, NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import type { MemoryReading } from '#shared/domain/pressure/observation.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { NodeView } from '#agent/decide/snapshot/node-view.ts';
import { meminfoSource } from '#agent/observe/kernel/meminfo.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { watchSource } from '#agent/observe/source/watched-source.ts';
import { createKernelActivity } from './kernel-activity.ts';
import { reclaimableMemory } from './kernel-memory.ts';
import type { NodeSource } from './node-source.ts';

interface OwnKernelOptions {
  readonly proc: string;
  /** Whether the kernel below `proc` is that of the node. */
  readonly isNodesKernel: () => boolean;
  readonly clock: Clock;
}

/**
 * A summary that is up to 16 s old, completed with what /proc says now, if the agent runs on that node: the kernel has
 * the boot id of the Node and the memory that the kubelet reports. The boot id alone is not enough, because a container
 * in which /proc/meminfo is virtual has the boot id of its host.
 */
export function withOwnKernel(summary: NodeSource, { proc, isNodesKernel, clock }: OwnKernelOptions): NodeSource {
  const meminfo = watchSource(meminfoSource(proc), clock);
  const activity = createKernelActivity(proc, clock);
  const sources = [meminfo, ...activity.sources];
  let reported: MemoryReading | undefined;
  let isOwn = false;

  function readOwn(nowMs: number): MemoryReading | undefined {
    if (!isNodesKernel()) return undefined;
    const memory = valueOf(meminfo.read());
    const own = memory && reclaimableMemory(memory, 0, nowMs);
    return areOfOneMachine(own, reported) ? own : undefined;
  }

  function readNode(nowMs: number): NodeView {
    const view = summary.readNode(nowMs);
    reported = view.readings.memory ?? reported;
    const memory = readOwn(nowMs);
    isOwn = memory !== undefined;
    if (memory === undefined) return view;
    const { processes, stalls, ...others } = activity.readNode(nowMs);
    return {
      readings: { ...view.readings, processes: processes ?? view.readings.processes },
      reclaimable: { ...NO_MEMORY_READINGS, memory },
      stalls: stalls.length > 0 ? stalls : view.stalls,
      ...others,
    };
  }

  function close(): void {
    for (const source of sources) source.close();
    summary.close();
  }
  return {
    ...summary,
    readNode,
    health: () => [...summary.health(), ...(isOwn ? sources.map((source) => source.health()) : [])],
    close,
  };
}

/** Whether the kernel below `proc` booted with the id that the kubelet posted; containers share that of their node. */
export function kernelMatcher(proc: string, nodeBootId: () => string | undefined): () => boolean {
  const bootId = readBootId(proc);
  return () => bootId !== undefined && bootId === nodeBootId();
}

function readBootId(proc: string): string | undefined {
  try {
    return readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
