/**
 * The race against the kernel's OOM killer: a real process fills memory in a real pod cgroup below a limited group of
 * all pods, the real agent watches `allocatableMemory.available` and asks a (fake) API server for the eviction, and
 * the process gets its SIGTERM when the request arrives. Measured: threshold crossed → request on the wire, how far
 * memory went below the threshold, and who won. Beside it the kubelet's loop as a model: one look each 10 s, so the
 * wait is uniform from 0 to 10 s. JSON on stdout; RUNS=n sets the runs per row.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCgroupLayout } from '#agent/observe/cgroup-layout.ts';
import { memoryCgroupSource } from '#agent/observe/memory-cgroup.ts';
import { memoryEventsSource } from '#agent/observe/memory-events.ts';
import { groupPod, startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';

const RUNS = Number(process.env['RUNS'] ?? 10);
const RATES = (process.env['RATES'] ?? '0.1,0.3,1').split(',').map(Number);
const THRESHOLDS_MIB = (process.env['THRESHOLDS'] ?? '200,500').split(',').map(Number);
const MIB = 1024 * 1024;
const HOG = new URL('../test/agent/hog.ts', import.meta.url).pathname;
const ROOM_ABOVE_THRESHOLD_MIB = 1000;
const POLL_MS = 1;
const KUBELET_MEAN_MS = 5000;
const SETTLE_MS = 2500;

interface Run {
  readonly delayMs: number;
  readonly overshootMiB: number;
  readonly wasKilledByKernel: boolean;
}

interface Watched {
  readonly availableBytes: () => number;
  readonly oomKills: () => number;
  readonly close: () => void;
}

/** What is left below the limit of all pods, read as the agent reads it. */
function watchPods({ kubepods, uids }: PodGroups): Watched {
  const found = findCgroupLayout('/sys/fs/cgroup', kubepods);
  if (found.kind === 'unknown') throw new Error(found.because);
  const memory = memoryCgroupSource(found.layout, kubepods);
  const events = memoryEventsSource(found.layout, `${kubepods}/burstable/pod${uids[0] ?? ''}`);
  return {
    availableBytes: () => {
      const answer = memory.read();
      if (answer.kind !== 'reading') throw new Error(answer.because);
      return answer.value.limitBytes - answer.value.workingSetBytes;
    },
    oomKills: () => {
      const answer = events.read();
      return answer.kind === 'reading' ? answer.value.oomKills : Number.NaN;
    },
    close: () => {
      memory.close();
      events.close();
    },
  };
}

function startHog(groups: PodGroups, uid: string, bytesPerSecond: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOG, String(bytesPerSecond), String(3000 * MIB)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  groups.join(uid, child.pid ?? 0);
  return new Promise((resolve, reject) => {
    child.stdout.once('data', () => resolve(child));
    child.once('close', () => reject(new Error('the hog ended before it grew')));
  });
}

async function waitFor(isDone: () => boolean): Promise<void> {
  while (!isDone()) await sleep(POLL_MS);
}

async function race(groups: PodGroups, bytesPerSecond: number, thresholdMiB: number): Promise<Run> {
  groups.limit((thresholdMiB + ROOM_ABOVE_THRESHOLD_MIB) * MIB);
  const watched = watchPods(groups);
  const policy = { mode: 'Enforce', evictionHard: { 'allocatableMemory.available': `${thresholdMiB}Mi` } };
  const flags = [`--path-kubepods=${groups.kubepods}`, '--warm-up-ms=0', '--cross-check-enabled=false'];
  const agent = await startAgent(
    groups.uids.map((uid) => groupPod(uid, 0)),
    flags,
    policy,
  );
  await sleep(SETTLE_MS);
  const killsBefore = watched.oomKills();
  const hog = await startHog(groups, groups.uids[0] ?? '', bytesPerSecond);
  const ended = new Promise((resolve) => hog.on('close', resolve));
  agent.api.onEvicted = () => void hog.kill('SIGTERM');
  try {
    await waitFor(() => watched.availableBytes() < thresholdMiB * MIB);
    const crossedAt = performance.now();
    let lowest = Number.POSITIVE_INFINITY;
    const eviction = () => agent.api.writes.find(({ path }) => path.endsWith('/eviction'));
    await waitFor(() => {
      lowest = Math.min(lowest, watched.availableBytes());
      return hog.exitCode !== null || hog.signalCode !== null;
    });
    const delayMs = Math.max(0, (eviction()?.atMs ?? Number.POSITIVE_INFINITY) - crossedAt);
    return { delayMs, overshootMiB: thresholdMiB - lowest / MIB, wasKilledByKernel: watched.oomKills() > killsBefore };
  } finally {
    hog.kill('SIGKILL');
    await ended;
    await agent.stop();
    watched.close();
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN) * 10) / 10;
}

async function row(groups: PodGroups, gigabytesPerSecond: number, thresholdMiB: number) {
  const runs: Run[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await race(groups, gigabytesPerSecond * 1e9, thresholdMiB));
  const delays = runs.map(({ delayMs }) => delayMs);
  const overshoots = runs.map(({ overshootMiB }) => overshootMiB);
  return {
    gigabytesPerSecond,
    thresholdMiB,
    runs: RUNS,
    delayMs: { p50: quantile(delays, 0.5), p99: quantile(delays, 0.99), max: quantile(delays, 1) },
    overshootMiB: { p50: quantile(overshoots, 0.5), max: quantile(overshoots, 1) },
    killedByKernel: runs.filter(({ wasKilledByKernel }) => wasKilledByKernel).length,
    timesEarlierThanTenSecondLoop: Math.round(KUBELET_MEAN_MS / quantile(delays, 0.5)),
  };
}

await warmCompileCache();
const groups = createPodGroups(110);
try {
  const rows = [];
  for (const rate of RATES) for (const threshold of THRESHOLDS_MIB) rows.push(await row(groups, rate, threshold));
  console.log(JSON.stringify({ benchmark: 'agent-race', pods: groups.uids.length, rows }, null, 2));
} finally {
  groups.remove();
}
