import type { MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { MemoryReading } from '#shared/domain/pressure/observation.ts';
import { type NodeMemory, reclaimableInGroup, reclaimableOnNode } from '#shared/domain/pressure/reclaimable-memory.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createGuardedCache } from '#agent/observe/cgroup/guarded-cache.ts';
import { meminfoSource } from '#agent/observe/kernel/meminfo.ts';
import { type CgroupMemory, nodeMemorySource } from '#agent/observe/cgroup/memory-cgroup.ts';
import { type PodsMemory, podsMemorySource } from '#agent/observe/cgroup/pods-memory.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { watchSource, type WatchedSource } from '#agent/observe/source/watched-source.ts';

/** Both figures of the node's memory, read at the same moment. */
export interface MemoryView {
  /** As the kubelet computes them. */
  readonly kubelet: MemoryReadings;
  /** Memory that processes can still allocate. */
  readonly reclaimable: MemoryReadings;
}

export interface KernelMemory {
  readonly readNode: (nowMs: number) => MemoryView;
  readonly sources: readonly WatchedSource<unknown>[];
  readonly close: () => void;
}

/** The node's memory from /proc/meminfo, the root of the memory tree and the cgroup of all pods. */
export function createKernelMemory(proc: string, layout: CgroupLayout, clock: Clock): KernelMemory {
  const meminfo = watchSource(meminfoSource(proc), clock);
  const root = watchSource(nodeMemorySource(layout), clock);
  const pods = watchSource(podsMemorySource(layout), clock);
  const guards = { node: createGuardedCache(layout, ''), pods: createGuardedCache(layout, layout.kubepods) };
  const sources = [meminfo, root, pods];

  function readNode(at: number): MemoryView {
    const node = valueOf(meminfo.read());
    const group = limited(valueOf(pods.read()));
    return {
      kubelet: {
        memory: nodeMemory(node, valueOf(root.read()), at),
        allocatableMemory: group && leftOf(group.limitBytes, group.workingSetBytes, at),
      },
      reclaimable: {
        memory: node && reclaimableMemory(node, guards.node.bytesAt(at), at),
        allocatableMemory: group && reclaimableBelowLimit(group, guards.pods.bytesAt(at), at),
      },
    };
  }

  function close(): void {
    for (const each of [...sources, guards.node, guards.pods]) each.close();
  }
  return { readNode, sources, close };
}

/** memory.available as the kubelet computes it: capacity minus the working set of the root cgroup. */
function nodeMemory(
  node: NodeMemory | undefined,
  root: CgroupMemory | undefined,
  at: number,
): MemoryReading | undefined {
  return node && root && leftOf(node.totalBytes, root.workingSetBytes, at);
}

/** Without a limit on the cgroup of all pods the signal does not exist. */
function limited(pods: PodsMemory | undefined): PodsMemory | undefined {
  return pods !== undefined && Number.isFinite(pods.limitBytes) ? pods : undefined;
}

function leftOf(capacityBytes: number, workingSetBytes: number, at: number): MemoryReading {
  return { at, availableBytes: Math.max(0, capacityBytes - workingSetBytes), workingSetBytes };
}

/** The node's reclaimable memory, from /proc/meminfo minus cache that cgroups protect. */
export function reclaimableMemory(node: NodeMemory, guardedBytes: number, at: number): MemoryReading {
  const availableBytes = reclaimableOnNode(node, guardedBytes);
  return { at, availableBytes, workingSetBytes: node.totalBytes - availableBytes };
}

function reclaimableBelowLimit(pods: PodsMemory, guardedBytes: number, at: number): MemoryReading {
  const availableBytes = reclaimableInGroup(pods, guardedBytes);
  return { at, availableBytes, workingSetBytes: pods.limitBytes - availableBytes };
}
