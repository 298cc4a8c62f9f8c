/**
 * Runs in the guest, alone there: the agent and earlyoom on the same ramp of the whole node's memory, in turn. The agent
 * is measured from the crossing of `memory.available` as the kubelet has it, earlyoom from the crossing of MemAvailable.
 * RUNS, RATES (GB/s) and THRESHOLDS (MiB) in the environment.
 */
import { warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { agentRacer } from './agent-racer.ts';
import { environment } from '#bench/agent/support/environment.ts';
import { earlyoomRacer } from './earlyoom-racer.ts';
import { type Run, runRace, summariseRuns } from './race.ts';
import type { Racer, Track } from './racer.ts';
import { meminfoTrack, nodeTrack } from './tracks.ts';

const PODS = 20;
const [runs = 0] = numbers('RUNS');

interface Contestant {
  readonly name: string;
  readonly start: (thresholdMiB: number) => Promise<Racer>;
  readonly track: () => Track;
}

function contestants(groups: PodGroups): readonly Contestant[] {
  return [
    {
      name: 'agent',
      start: (thresholdMiB) => agentRacer(groups, 'memory.available', thresholdMiB),
      track: () => nodeTrack(groups),
    },
    { name: 'earlyoom', start: earlyoomRacer, track: meminfoTrack },
  ];
}

function numbers(name: string): readonly number[] {
  return (process.env[name] ?? '').split(',').map(Number);
}

async function runOnce(groups: PodGroups, contestant: Contestant, rate: number, thresholdMiB: number): Promise<Run> {
  const track = contestant.track();
  const racer = await contestant.start(thresholdMiB);
  try {
    return await runRace({ groups, racer, track, bytesPerSecond: rate * 1e9, thresholdMiB });
  } finally {
    await racer.stop();
    track.close();
  }
}

async function rows(groups: PodGroups, rate: number, thresholdMiB: number): Promise<readonly object[]> {
  const seen = contestants(groups).map((contestant) => ({ contestant, runs: [] as Run[] }));
  for (let run = 0; run < runs; run += 1)
    for (const each of seen) each.runs.push(await runOnce(groups, each.contestant, rate, thresholdMiB));
  return seen.map((each) => ({
    who: each.contestant.name,
    gigabytesPerSecond: rate,
    thresholdMiB,
    ...summariseRuns(each.runs),
  }));
}

await warmCompileCache();
const groups = createPodGroups(PODS);
const all: object[] = [];
for (const rate of numbers('RATES'))
  for (const threshold of numbers('THRESHOLDS')) all.push(...(await rows(groups, rate, threshold)));
console.log(JSON.stringify({ pods: PODS, ...environment(), rows: all }));
