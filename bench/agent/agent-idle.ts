/**
 * What the agent costs a node: CPU and memory over a minute, with 110 and 500 everyday pods in real cgroups, far from
 * every threshold (one pass per second) and near one (one pass per 100 ms), after the garbage of the start was
 * collected. JSON on stdout. SECONDS=n shortens the minute, PODS=n measures one size, PERIODS_MS=n one pace, ENDED=n
 * adds pods that have ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadavg } from 'node:os';
import { rounded } from '#bench/shared/support/quantile.ts';
import { startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { environment } from './support/environment.ts';
import { endedPod, everydayPod } from './support/everyday-pod.ts';
import { type Footprint, footprintOf } from '#test/agent/process-footprint.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const PODS = (process.env['PODS'] ?? '110,500').split(',').map(Number);
const ENDED = Number(process.env['ENDED'] ?? 0);
const PERIODS_MS = (process.env['PERIODS_MS'] ?? '1000,100').split(',').map(Number);
const SETTLE_MS = 60_000;
const QUARTER = 4;
const NOTHING: Footprint = { cpuSeconds: 0, rssMiB: 0, privateMiB: 0 };

/** Thresholds that are never crossed here; near, the adaptive period is forced to its shortest. */
const POLICY = { evictionHard: { 'memory.available': '250Mi' } };

interface IdleMeasurement {
  readonly pods: number;
  readonly periodMs: number;
  readonly millicores: number;
  /** The maximum. */
  readonly rssMiB: number;
  readonly privateMiB: number;
  /** Means of the first and the last quarter: alike is flat. Between collections it rises a little and falls again. */
  readonly privateFirstMiB: number;
  readonly privateLastMiB: number;
  /** Load of the machine, whose other work makes CPU time more expensive. */
  readonly load: number;
}

/** One sample a second. */
async function sample(pid: number): Promise<readonly Footprint[]> {
  const samples = [footprintOf(pid)];
  for (let second = 0; second < SECONDS; second += 1) {
    await sleep(1000);
    samples.push(footprintOf(pid));
  }
  return samples;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function summarise(pods: number, periodMs: number, samples: readonly Footprint[]): IdleMeasurement {
  const [first = NOTHING] = samples;
  const last = samples.at(-1) ?? NOTHING;
  const hundredths = (value: number): number => rounded(value, 2);
  const held = samples.map(({ privateMiB }) => privateMiB);
  const quarter = Math.ceil(held.length / QUARTER);
  return {
    pods,
    periodMs,
    millicores: hundredths(((last.cpuSeconds - first.cpuSeconds) / SECONDS) * 1000),
    rssMiB: hundredths(Math.max(...samples.map(({ rssMiB }) => rssMiB))),
    privateMiB: hundredths(Math.max(...held)),
    privateFirstMiB: hundredths(mean(held.slice(0, quarter))),
    privateLastMiB: hundredths(mean(held.slice(-quarter))),
    load: hundredths(loadavg()[0] ?? Number.NaN),
  };
}

async function measure(count: number, periodMs: number): Promise<IdleMeasurement> {
  // Each time: with a source changed meanwhile the type stripper would be measured as well.
  await warmCompileCache();
  const groups = createPodGroups(count);
  const flags = [`--path-kubepods=${groups.kubepods}`, `--period-near-ms=${periodMs}`, `--period-far-ms=${periodMs}`];
  const alive = groups.uids.map((uid) => everydayPod(uid, 0));
  const ended = Array.from({ length: ENDED }, (_, index) => endedPod(`ended-${index}`));
  const agent = await startAgent([...alive, ...ended], flags, POLICY);
  try {
    const pid = agent.child.pid ?? 0;
    await sleep(SETTLE_MS);
    return summarise(count, periodMs, await sample(pid));
  } finally {
    await agent.stop();
    groups.remove();
  }
}

const results: IdleMeasurement[] = [];
for (const count of PODS) for (const periodMs of PERIODS_MS) results.push(await measure(count, periodMs));
console.log(
  JSON.stringify({ benchmark: 'agent-idle', seconds: SECONDS, ended: ENDED, ...environment(), results }, null, 2),
);
