import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import type { PodGroups } from '#test/agent/pod-groups.ts';
import type { Racer, Track } from './racer.ts';

export interface Race {
  readonly groups: PodGroups;
  readonly racer: Racer;
  readonly track: Track;
  readonly bytesPerSecond: number;
  readonly thresholdMiB: number;
}

export interface Run {
  /**
   * From the first measurement below the threshold to the request; 0 if it came earlier, infinite (null in JSON) if
   * there was none.
   */
  readonly delayMs: number;
  /** How far memory went below the threshold. */
  readonly overshootMiB: number;
  readonly wasKilledByKernel: boolean;
  /** How fast memory was actually filled. */
  readonly mebibytesPerSecond: number;
}

const MIB = 1024 * 1024;
const HOG = fileURLToPath(new URL('../../../test/agent/hog.ts', import.meta.url));
const HOG_MAX_MIB = 3000;
const POLL_MS = 1;

/** A real process in a real pod group fills memory until it is ended, by the racer or by the kernel. */
export async function runRace({ groups, racer, track, bytesPerSecond, thresholdMiB }: Race): Promise<Run> {
  const killsBefore = track.oomKills();
  const hog = await startHog(groups, bytesPerSecond);
  const ended = new Promise((resolve) => hog.on('close', resolve));
  racer.expect(hog);
  try {
    const start = { atMs: performance.now(), availableMiB: track.availableBytes() / MIB };
    const hasEnded = (): boolean => hog.exitCode !== null || hog.signalCode !== null;
    let lowestMiB = await lowestUntil(track, (availableMiB) => availableMiB < thresholdMiB || hasEnded());
    const crossed = { atMs: performance.now(), availableMiB: lowestMiB };
    lowestMiB = Math.min(lowestMiB, await lowestUntil(track, hasEnded));
    return {
      delayMs: Math.max(0, (racer.askedAtMs() ?? Number.POSITIVE_INFINITY) - crossed.atMs),
      overshootMiB: thresholdMiB - lowestMiB,
      wasKilledByKernel: track.oomKills() > killsBefore,
      mebibytesPerSecond: ((start.availableMiB - crossed.availableMiB) * 1000) / (crossed.atMs - start.atMs),
    };
  } finally {
    hog.kill('SIGKILL');
    await ended;
  }
}

async function lowestUntil(track: Track, isDone: (availableMiB: number) => boolean): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (;;) {
    const availableMiB = track.availableBytes() / MIB;
    lowest = Math.min(lowest, availableMiB);
    if (isDone(availableMiB)) return lowest;
    await sleep(POLL_MS);
  }
}

function startHog(groups: PodGroups, bytesPerSecond: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOG, String(bytesPerSecond), String(HOG_MAX_MIB * MIB)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  groups.join(groups.uids[0] ?? '', child.pid ?? 0);
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve(child));
    child.once('close', () => reject(new Error('the hog ended before it grew')));
  });
}

/** Figures over the runs of one setting. */
export function summariseRuns(runs: readonly Run[]): object {
  const delays = runs.map(({ delayMs }) => delayMs);
  const overshoots = runs.map(({ overshootMiB }) => overshootMiB);
  return {
    runs: runs.length,
    mebibytesPerSecond: tenths(
      runs.map(({ mebibytesPerSecond }) => mebibytesPerSecond),
      0.5,
    ),
    delayMs: { p50: tenths(delays, 0.5), p99: tenths(delays, 0.99), max: tenths(delays, 1) },
    overshootMiB: { p50: tenths(overshoots, 0.5), max: tenths(overshoots, 1) },
    killedByKernel: runs.filter(({ wasKilledByKernel }) => wasKilledByKernel).length,
    timesEarlierThanTenSecondLoop: Math.round(KUBELET_MEAN_MS / Math.max(POLL_MS, tenths(delays, 0.5))),
  };
}

/** One pass every 10 s: a wait evenly distributed from 0 to 10 s. */
const KUBELET_MEAN_MS = 5000;

/** A quantile, rounded to tenths. */
function tenths(values: readonly number[], share: number): number {
  return rounded(quantile(values, share), 1);
}
