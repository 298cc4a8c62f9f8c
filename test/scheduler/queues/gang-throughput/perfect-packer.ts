import type { Work } from './arrivals.ts';
import type { WorkCluster } from './run-work.ts';

/**
 * What no scheduler reaches that leaves pods where they are: each second all that runs is packed anew, the largest pods
 * first. Work starts whole, by priority and age; what does not fit lets others pass.
 */
export function perfectPacker(nodes: readonly number[]): WorkCluster {
  const total = nodes.reduce((sum, each) => sum + each, 0);
  const waiting = new Set<Work>();
  const running = new Set<Work>();
  let used = 0;
  return {
    arrive: (work) => void waiting.add(work),
    step: () => {
      const inOrder = [...waiting].sort((a, b) => b.priority - a.priority || a.at - b.at);
      for (const work of inOrder) {
        if (used + sizeOf(work) > total || !doFit([...running, work], nodes)) continue;
        waiting.delete(work);
        running.add(work);
        used += sizeOf(work);
      }
    },
    running: (work) => (running.has(work) ? work.size : 0),
    finish: (work) => {
      running.delete(work);
      used -= sizeOf(work);
    },
  };
}

/** The most CPU-seconds of gangs that any order reaches until the horizon, as if all nodes were one and empty of others. */
export function gangBound(arrivals: readonly Work[], nodes: readonly number[], horizon: number): number {
  const gangs = arrivals.filter(({ isGang, at }) => isGang && at < horizon);
  const total = nodes.reduce((sum, each) => sum + each, 0);
  const asked = gangs.reduce((sum, work) => sum + sizeOf(work) * Math.min(work.seconds, horizon - work.at), 0);
  return Math.min(asked, total * horizon);
}

function sizeOf({ size, cpu }: Work): number {
  return size * cpu;
}

/** First fit, the largest pods first. */
function doFit(works: readonly Work[], nodes: readonly number[]): boolean {
  const free = [...nodes];
  const bySize = works.toSorted((a, b) => b.cpu - a.cpu);
  let [from, last] = [0, 0];
  for (const { cpu, size } of bySize) {
    if (cpu !== last) [from, last] = [0, cpu];
    for (let left = size; left > 0;) {
      const room = free[from];
      if (room === undefined) return false;
      const count = Math.min(left, Math.floor(room / cpu));
      free[from] = room - count * cpu;
      left -= count;
      if (left > 0) from += 1;
    }
  }
  return true;
}
