/**
 * How late the agent's passes begin, one each 100 ms, while 20 processes compete for every CPU: on the idle machine,
 * with the agent in a group with the CPU of its manifest as on a node, beside hogs that request nothing and beside hogs
 * that request all the rest of the node, and, for comparison, without its own group. From the agent's own histogram.
 * JSON on stdout; needs cgroup v1 and the right to make groups; SECONDS=n per row, REQUESTS=20,40 for other requests.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentProcess, groupPod, startAgent, warmCompileCache } from '#test/agent/agent-process.ts';
import { createPodGroups, type PodGroups } from '#test/agent/pod-groups.ts';
import { environment } from './support/environment.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const SETTLE_MS = 5000;
const PODS = 110;
const HOGS = 20;
const PERIOD_MS = 100;
const CPU_TREE = '/sys/fs/cgroup/cpu';
/** Of deploy/base/agent/daemonset.yaml, in thousandths of a CPU; its limit is 200m. BestEffort gets the least. */
const REQUESTS = (process.env['REQUESTS'] ?? '40').split(',').map(Number);
const AGENT_QUOTA_US = 20_000;
const BEST_EFFORT_SHARES = 2;
const NODE_MILLIS = availableParallelism() * 1_000;
const GOAL_SECONDS = 0.02;
/** Never waits, and ends with the process that started it. */
const HOG = 'while kill -0 $PPID; do n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done; done';

interface CpuGroup {
  readonly join: (pid: number) => void;
  readonly remove: () => void;
}

/** As the kubelet converts requests. */
function sharesOf(milliCpus: number): number {
  return Math.max(BEST_EFFORT_SHARES, Math.floor((milliCpus * 1_024) / 1_000));
}

function setShares(path: string, shares: number): void {
  writeFileSync(`${CPU_TREE}/${path}/cpu.shares`, String(shares));
}

function createCpuGroup(path: string, shares: number, quotaMicroseconds = -1): CpuGroup {
  const folder = `${CPU_TREE}/${path}`;
  mkdirSync(folder);
  writeFileSync(`${folder}/cpu.shares`, String(shares));
  writeFileSync(`${folder}/cpu.cfs_quota_us`, String(quotaMicroseconds));
  return { join: (pid) => writeFileSync(`${folder}/cgroup.procs`, String(pid)), remove: () => rmdirSync(folder) };
}

/** Passes by lateness: an upper bound in seconds and how many began no later. */
type Histogram = ReadonlyMap<number, number>;

async function latenessOf({ url }: AgentProcess): Promise<Histogram> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.matchAll(/^plimsoll_agent_loop_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm);
  return new Map(Array.from(lines, ([, bound, count]) => [bound === '+Inf' ? Infinity : Number(bound), Number(count)]));
}

function since(before: Histogram, after: Histogram): Histogram {
  return new Map(Array.from(after, ([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** In milliseconds, linear within a bucket as Prometheus does it. */
function quantile(histogram: Histogram, share: number): number {
  const wanted = (histogram.get(Infinity) ?? 0) * share;
  let [lowBound, lowCount] = [0, 0];
  for (const [bound, count] of histogram) {
    if (count >= wanted) {
      const within = count === lowCount ? 0 : (wanted - lowCount) / (count - lowCount);
      return Math.round((lowBound + within * (Math.min(bound, 10) - lowBound)) * 1e5) / 100;
    }
    [lowBound, lowCount] = [bound, count];
  }
  return Number.NaN;
}

/** Each joins its group. */
function startHogs(join: (pid: number, index: number) => void): readonly ChildProcess[] {
  return Array.from({ length: HOGS }, (_, index) => {
    const child = spawn('sh', ['-c', HOG], { stdio: 'ignore' });
    join(child.pid ?? 0, index);
    return child;
  });
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  const ended = children.map((child) => new Promise((resolve) => child.on('close', resolve)));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
}

async function measure(
  name: string,
  pods: PodGroups,
  own: CpuGroup | undefined,
  joinHog?: (pid: number, index: number) => void,
) {
  const flags = [`--path-kubepods=${pods.kubepods}`, `--period-near-ms=${PERIOD_MS}`, `--period-far-ms=${PERIOD_MS}`];
  const objects = pods.uids.map((uid) => groupPod(uid, 0));
  const confined = own && { join: own.join, userId: 0 };
  const agent = await startAgent(objects, flags, { evictionHard: { 'memory.available': '1Mi' } }, confined);
  const hogs = joinHog === undefined ? [] : startHogs(joinHog);
  try {
    await sleep(SETTLE_MS);
    const before = await latenessOf(agent);
    await sleep(SECONDS * 1000);
    const seen = since(before, await latenessOf(agent));
    const passes = seen.get(Infinity) ?? 0;
    return {
      name,
      passes,
      p50Ms: quantile(seen, 0.5),
      p99Ms: quantile(seen, 0.99),
      within20ms: Math.round(((seen.get(GOAL_SECONDS) ?? 0) / passes) * 10_000) / 10_000,
    };
  } finally {
    await end(hogs);
    await agent.stop();
  }
}

/** Beside hogs without requests, and beside hogs whose requests fill the node. */
async function measureRequest(pods: PodGroups, bestEffort: CpuGroup, millis: number) {
  const path = `${pods.kubepods}/burstable`;
  const own = createCpuGroup(`${path}/agent`, sharesOf(millis), AGENT_QUOTA_US);
  const ofHog = sharesOf((NODE_MILLIS - millis) / HOGS);
  try {
    setShares(path, sharesOf(millis));
    const beside = await measure(`${millis}m, hogs request nothing`, pods, own, bestEffort.join);
    setShares(path, sharesOf(NODE_MILLIS));
    const joinPod = (pid: number, index: number): void => {
      const uid = pods.uids[index] ?? '';
      setShares(pods.pathOf(uid), ofHog);
      pods.join(uid, pid);
    };
    return [beside, await measure(`${millis}m, hogs request the rest`, pods, own, joinPod)];
  } finally {
    own.remove();
  }
}

await warmCompileCache();
const pods = createPodGroups(PODS);
const bestEffort = createCpuGroup(`${pods.kubepods}/besteffort`, BEST_EFFORT_SHARES);
try {
  setShares(pods.kubepods, sharesOf(NODE_MILLIS));
  const rows = [await measure('idle', pods, undefined)];
  for (const millis of REQUESTS) rows.push(...(await measureRequest(pods, bestEffort, millis)));
  rows.push(await measure('with 20 hogs, without a group of its own', pods, undefined, bestEffort.join));
  console.log(JSON.stringify({ benchmark: 'agent-lateness', seconds: SECONDS, ...environment(), rows }, null, 2));
} finally {
  bestEffort.remove();
  pods.remove();
}
