import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { vmstatSource } from '#agent/observe/node/kernel-activity.ts';
import { meminfoSource } from '#agent/observe/node/kernel-memory.ts';
import { memoryCgroupSource, nodeMemorySource, memoryEventsSource } from '#agent/observe/cgroup/memory-cgroup.ts';
import type { Reading, Source } from '#agent/observe/source/source.ts';
import type { PodGroups } from '#test/agent/pod-groups.ts';
import type { Track } from './racer.ts';

/** `allocatableMemory.available`: what is left below the limit of all pods, and the kills in the first pod's group. */
export function podsTrack({ kubepods, uids, pathOf }: PodGroups): Track {
  const layout = layoutOf(kubepods);
  const memory = memoryCgroupSource(layout, kubepods);
  const events = memoryEventsSource(layout, pathOf(uids[0] ?? ''));
  return track([memory, events], {
    availableBytes: () => {
      const { limitBytes, workingSetBytes } = valueOf(memory.read());
      return limitBytes - workingSetBytes;
    },
    oomKills: () => valueOf(events.read()).oomKills,
  });
}

/** `memory.available` of the node as kubelet and agent have it. */
export function nodeTrack({ kubepods }: PodGroups): Track {
  const info = meminfoSource('/proc');
  const memory = nodeMemorySource(layoutOf(kubepods));
  return track([info, memory], {
    availableBytes: () => valueOf(info.read()).totalBytes - valueOf(memory.read()).workingSetBytes,
  });
}

/** MemAvailable of the node as earlyoom has it. */
export function meminfoTrack(): Track {
  const info = meminfoSource('/proc');
  return track([info], { availableBytes: () => valueOf(info.read()).availableBytes });
}

function track(
  sources: readonly Source<unknown>[],
  { availableBytes, oomKills }: Pick<Track, 'availableBytes'> & Partial<Track>,
): Track {
  const vmstat = vmstatSource('/proc');
  return {
    availableBytes,
    oomKills: oomKills ?? (() => valueOf(vmstat.read()).oomKills),
    close: () => {
      for (const source of [...sources, vmstat]) source.close();
    },
  };
}

function layoutOf(kubepods: string) {
  const found = findCgroupLayout('/sys/fs/cgroup', kubepods);
  if (found.kind === 'unknown') throw new Error(found.because);
  return found.layout;
}

function valueOf<T>(answer: Reading<T>): T {
  if (answer.kind !== 'reading') throw new Error(answer.because);
  return answer.value;
}
