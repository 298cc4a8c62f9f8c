/**
 * What the agent costs a node: CPU and memory over a minute, with 110 and 500 pods in real cgroups, far from every
 * threshold (a look each second) and near one (a look each 100 ms). JSON on stdout. SECONDS=n shortens it, PODS=n measures one size.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadavg, totalmem } from 'node:os';
import { groupPod, startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { type Footprint, footprintOf } from './agent/footprint.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const PODS = (process.env['PODS'] ?? '110,500').split(',').map(Number);
const PERIODS_MS = [1000, 100];
const SETTLE_MS = 15_000;
const NOTHING: Footprint = { cpuSeconds: 0, rssMiB: 0, privateMiB: 0 };

/** Thresholds that are never crossed here; near, the adaptive period is forced to its shortest. */
const POLICY = { evictionHard: { 'memory.available': '250Mi' } };

interface Measured {
  readonly pods: number;
  readonly periodMs: number;
  readonly millicores: number;
  readonly rssMiB: number;
  readonly privateMiB: number;
  /** Slope of a line through one sample a second: 0 is flat. */
  readonly privateMiBPerMinute: number;
  /** Of the machine, whose other work makes CPU time dearer. */
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

/** By least squares, per sample. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const together = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0);
  return together / values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
}

function summarise(pods: number, periodMs: number, samples: readonly Footprint[]): Measured {
  const [first = NOTHING] = samples;
  const last = samples.at(-1) ?? NOTHING;
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  return {
    pods,
    periodMs,
    millicores: rounded(((last.cpuSeconds - first.cpuSeconds) / SECONDS) * 1000),
    rssMiB: rounded(last.rssMiB),
    privateMiB: rounded(last.privateMiB),
    privateMiBPerMinute: rounded(slopeOf(samples.map(({ privateMiB }) => privateMiB)) * 60),
    load: rounded(loadavg()[0] ?? Number.NaN),
  };
}

async function measure(count: number, periodMs: number): Promise<Measured> {
  const groups = createPodGroups(count);
  const flags = [`--path-kubepods=${groups.kubepods}`, `--period-near-ms=${periodMs}`, `--period-far-ms=${periodMs}`];
  const agent = await startAgent(
    groups.uids.map((uid) => groupPod(uid, 0)),
    flags,
    POLICY,
  );
  try {
    const pid = agent.child.pid ?? 0;
    await sleep(SETTLE_MS);
    return summarise(count, periodMs, await sample(pid));
  } finally {
    await agent.stop();
    groups.remove();
  }
}

await warmCompileCache();
const results: Measured[] = [];
for (const count of PODS) for (const periodMs of PERIODS_MS) results.push(await measure(count, periodMs));
console.log(
  JSON.stringify(
    { benchmark: 'agent-idle', seconds: SECONDS, totalMemoryMiB: Math.round(totalmem() / 1024 / 1024), results },
    null,
    2,
  ),
);
