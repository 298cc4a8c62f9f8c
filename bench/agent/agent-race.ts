/**
 * The race against the kernel's OOM killer: a real process fills memory in a real pod cgroup below a limited group of
 * all pods, and the real agent watches `allocatableMemory.available`. Measured: threshold crossed → eviction request on
 * the wire, how far memory went below the threshold, and who won. For comparison the kubelet's loop as a model: one look each
 * 10 s, so the wait is uniform from 0 to 10 s. JSON on stdout; RUNS=n sets the runs per row, RATES (GB/s) and THRESHOLDS
 * (MiB) the rows.
 */
import { warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { agentRacer } from './race/agent-racer.ts';
import { environment } from './support/environment.ts';
import { type Run, runRace, summariseRuns } from './race/race.ts';
import { podsTrack } from './race/tracks.ts';

const RUNS = Number(process.env['RUNS'] ?? 10);
const RATES = (process.env['RATES'] ?? '0.1,0.3,1').split(',').map(Number);
const THRESHOLDS_MIB = (process.env['THRESHOLDS'] ?? '200,500').split(',').map(Number);
const MIB = 1024 * 1024;
const ROOM_ABOVE_THRESHOLD_MIB = 1000;

async function runOnce(groups: PodGroups, gigabytesPerSecond: number, thresholdMiB: number): Promise<Run> {
  groups.limit((thresholdMiB + ROOM_ABOVE_THRESHOLD_MIB) * MIB);
  const track = podsTrack(groups);
  const racer = await agentRacer(groups, 'allocatableMemory.available', thresholdMiB);
  try {
    return await runRace({ groups, racer, track, bytesPerSecond: gigabytesPerSecond * 1e9, thresholdMiB });
  } finally {
    await racer.stop();
    track.close();
  }
}

async function row(groups: PodGroups, gigabytesPerSecond: number, thresholdMiB: number): Promise<object> {
  const runs: Run[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await runOnce(groups, gigabytesPerSecond, thresholdMiB));
  return { gigabytesPerSecond, thresholdMiB, ...summariseRuns(runs) };
}

await warmCompileCache();
const groups = createPodGroups(110);
try {
  const rows = [];
  for (const rate of RATES) for (const threshold of THRESHOLDS_MIB) rows.push(await row(groups, rate, threshold));
  console.log(JSON.stringify({ benchmark: 'agent-race', pods: groups.uids.length, ...environment(), rows }, null, 2));
} finally {
  groups.remove();
}
