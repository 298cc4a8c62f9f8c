/**
 * What queues cost by the size of the cluster: nodes with 30 running and 10 waiting pods each, a queue for every five
 * nodes. For each size, in a process of its own: the heap that queues add to the copy of the cluster, and the processor
 * time of a pass, a report and a round of reclaim that seeks room for twenty pods. Then the exponent of each figure: what
 * grows with the size has 1. JSON on stdout. BENCH_SIZES are nodes; of 15,000 the largest process takes about 3 GB.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#shared/runtime/clock.ts';
import { median, rounded } from '#bench/shared/support/quantile.ts';
import { createQueueCluster, sizeOf } from './support/queue-cluster.ts';
import { openQueueWork, timeTurns } from './support/queue-work.ts';

const SIZES = (process.env['BENCH_SIZES'] ?? '500,1500,5000,15000').split(',').map(Number);
const ROUNDS = 5;
const MIB = 2 ** 20;
const ONE = process.argv[2];

interface Cost {
  readonly nodes: number;
  readonly queuesMib: number;
  readonly passCpuMs: number;
  readonly passTurnMs: number;
  readonly reportCpuMs: number;
  readonly reclaimCpuMs: number;
}

function heapMib(): number {
  for (let round = 0; round < 2; round += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed / MIB;
}

/** A round for warming up, then several. */
async function costOf(work: () => Promise<unknown>) {
  await work();
  const all = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await timeTurns(work));
  return { cpuMs: median(all.map(({ cpuMs }) => cpuMs)), turnMs: median(all.map(({ longestMs }) => longestMs)) };
}

/** The heap that holds a cluster, which is gone afterwards. */
function heapOf(nodes: number, withQueues: boolean): number {
  const before = heapMib();
  const cluster = createQueueCluster(sizeOf(nodes), systemClock, { withQueues });
  const held = heapMib() - before;
  return cluster.snapshot.nodes.size === nodes ? held : NaN;
}

async function measure(nodes: number): Promise<Cost> {
  const without = heapOf(nodes, false);
  const queuesMib = heapOf(nodes, true) - without;
  const work = openQueueWork(sizeOf(nodes));
  const plan = await work.pass();
  const pass = await costOf(work.pass);
  const report = await costOf(() => work.report(plan));
  const reclaim = await costOf(() => work.reclaim(plan));
  const figures = { queuesMib, passCpuMs: pass.cpuMs, passTurnMs: pass.turnMs };
  const all = { nodes, ...figures, reportCpuMs: report.cpuMs, reclaimCpuMs: reclaim.cpuMs };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, rounded(value, 1)])) as unknown as Cost;
}

function measureApart(nodes: number): Cost {
  const flags = ['--expose-gc', '--max-old-space-size=3500', fileURLToPath(import.meta.url), String(nodes)];
  const { stdout, status } = spawnSync(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`cannot measure ${nodes} nodes: exit ${status}`);
  return JSON.parse(stdout.toString()) as Cost;
}

/** The slope of a line through the logarithms. */
function exponentOf(costs: readonly Cost[], key: keyof Cost): number {
  const points = costs.map((cost) => [Math.log(cost.nodes), Math.log(cost[key])] as const);
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return rounded(covariance / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0), 2);
}

if (ONE === undefined) {
  const costs = SIZES.map(measureApart);
  const keys = ['queuesMib', 'passCpuMs', 'passTurnMs', 'reportCpuMs', 'reclaimCpuMs'] as const;
  const exponents = Object.fromEntries(keys.map((key) => [key, exponentOf(costs, key)]));
  console.log(JSON.stringify({ bench: 'queue-cost', sizes: SIZES.map(sizeOf), costs, exponents }, undefined, 2));
} else console.log(JSON.stringify(await measure(Number(ONE))));
