import type { Clock } from '#shared/runtime/clock.ts';
import type { CpuRoom } from '#agent/decide/snapshot/node-view.ts';
import { createCounterWindow } from '#agent/observe/source/counter-window.ts';
import { valueOf } from '#agent/observe/source/reading.ts';
import { watchSource } from '#agent/observe/source/watched-source.ts';
import { nodeCpuSource } from './node-cpu.ts';

const WINDOW_MS = 60_000;

/** The node's idle CPU over the last minute; `undefined` while the window is not full. */
export function createCpuMeter(proc: string, clock: Clock) {
  const source = watchSource(nodeCpuSource(proc), clock);
  const busy = createCounterWindow(WINDOW_MS);

  function read(nowMs: number): CpuRoom | undefined {
    const seen = valueOf(source.read());
    busy.add(seen?.busySeconds ?? Number.NaN, nowMs);
    const rate = busy.rate();
    if (rate === undefined || seen === undefined) return undefined;
    return { availableCores: Math.max(0, seen.processors - rate * 1000), cores: seen.processors };
  }
  return { source, read };
}
