/**
 * What the agent costs a node: CPU and memory over a minute, with 110 and 500 pods in real cgroups, far from every
 * threshold (a look each second) and near one (a look each 100 ms). JSON on stdout. SECONDS=n shortens it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { totalmem } from 'node:os';
import { groupPod, startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups } from '#test/agent/pod-groups.ts';
import { type Footprint, footprintOf } from './agent/footprint.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const SETTLE_MS = 15_000;

/** Thresholds that are never crossed here; near, the adaptive period is forced to its shortest. */
const POLICY = { evictionHard: { 'memory.available': '250Mi' } };

interface Measured {
  readonly pods: number;
  readonly periodMs: number;
  readonly millicores: number;
  readonly rssMiB: number;
  readonly privateMiB: number;
  readonly growthMiB: number;
}

function summarise(pods: number, periodMs: number, first: Footprint, last: Footprint): Measured {
  const rounded = (value: number): number => Math.round(value * 100) / 100;
  return {
    pods,
    periodMs,
    millicores: rounded(((last.cpuSeconds - first.cpuSeconds) / SECONDS) * 1000),
    rssMiB: rounded(last.rssMiB),
    privateMiB: rounded(last.privateMiB),
    growthMiB: rounded(last.privateMiB - first.privateMiB),
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
    const first = footprintOf(pid);
    await sleep(SECONDS * 1000);
    return summarise(count, periodMs, first, footprintOf(pid));
  } finally {
    await agent.stop();
    groups.remove();
  }
}

await warmCompileCache();
const results: Measured[] = [];
for (const [count, periodMs] of [
  [110, 1000],
  [110, 100],
  [500, 1000],
  [500, 100],
] as const) {
  results.push(await measure(count, periodMs));
}
console.log(
  JSON.stringify(
    { benchmark: 'agent-idle', seconds: SECONDS, totalMemoryMiB: Math.round(totalmem() / 1024 / 1024), results },
    null,
    2,
  ),
);
