/**
 * How long planning a preemption takes on clusters of 500 to 5,000 nodes with 30 pods each, every node a candidate and
 * only resources at stake, with and without 20 disruption budgets. JSON on stdout, times in milliseconds; preparing the
 * snapshot is counted apart. The clusters are those of the oracle's own bench, so that the real scheduler can be compared.
 */
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { planPreemption } from '#shared/domain/preemption/plan/plan-preemption.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { buildBudget, buildNode, buildPod } from '#test/build/cluster.ts';

const NODE_COUNTS = [500, 1_000, 2_000, 5_000];
const PODS_PER_NODE = 30;
const GOALS = { 0: 10, 20: 20 } as const;
const BUDGET_COUNTS = [0, 20] as const;
const WARM_UP = 30;
const ROUNDS = 101;

const INCOMING = buildPod({ name: 'incoming', priority: 1_000, requests: { cpu: '1500m', memory: '2Gi' } });

/** The same number below `bound` for the same index on every machine. */
function draw(index: number, bound: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 8) % bound;
}

function milliCpu(index: number): number {
  return 100 + draw(index, 200);
}

function createPod(index: number): Pod {
  return buildPod({
    name: `pod-${index}`,
    node: `node-${Math.floor(index / PODS_PER_NODE)}`,
    priority: draw(index * 3, 5) * 100,
    labels: { app: `app-${draw(index * 5, 50)}` },
    startedAt: index * 1_000,
    requests: { cpu: `${milliCpu(index)}m`, memory: `${128 + draw(index * 7, 256)}Mi` },
  });
}

function createNode(index: number) {
  const indexes = Array.from({ length: PODS_PER_NODE }, (_, pod) => index * PODS_PER_NODE + pod);
  const cpu = indexes.reduce((sum, pod) => sum + milliCpu(pod), draw(index * 11, 500));
  return buildNode({ name: `node-${index}`, labels: { disk: 'ssd' }, allocatable: { cpu: `${cpu}m`, memory: '64Gi' } });
}

function createCluster(nodeCount: number, budgetCount: number) {
  return {
    nodes: Array.from({ length: nodeCount }, (_, index) => createNode(index)),
    pods: Array.from({ length: nodeCount * PODS_PER_NODE }, (_, index) => createPod(index)),
    budgets: Array.from({ length: budgetCount }, (_, index) =>
      buildBudget(`budget-${index}`, { app: `app-${index}` }, draw(index, 3)),
    ),
  };
}

function elapsedMs(task: () => unknown): number {
  const start = process.hrtime.bigint();
  task();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function timesMs(task: () => unknown) {
  for (let round = 0; round < WARM_UP; round += 1) task();
  const times = Array.from({ length: ROUNDS }, () => elapsedMs(task));
  const at = (share: number): number => rounded(quantile(times, share));
  return { minMs: at(0), medianMs: at(0.5), p99Ms: at(0.99) };
}

function measure(nodeCount: number, budgetCount: number) {
  const cluster = createCluster(nodeCount, budgetCount);
  let snapshot: ClusterSnapshot = createSnapshot({ nodes: [], pods: [] });
  const prepareMs = elapsedMs(() => (snapshot = createSnapshot(cluster)));
  const plan = planPreemption(snapshot, INCOMING);
  if (plan.kind !== 'preempt') throw new Error(`cannot measure a plan of kind "${plan.kind}", expected "preempt"`);
  const changed = cluster.pods.slice(0, 1_000);
  return {
    nodes: nodeCount,
    budgets: budgetCount,
    candidates: plan.candidates.length,
    ...timesMs(() => planPreemption(snapshot, INCOMING)),
    prepareMs: Number(prepareMs.toFixed(1)),
    podChangeUs: Number(elapsedMs(() => changed.forEach((pod) => putPod(snapshot, pod))).toFixed(2)),
  };
}

/** The slope of log(time) over log(nodes) from the smallest cluster to the largest. */
function growth(results: readonly { readonly nodes: number; readonly medianMs: number }[]): number {
  const [first, last] = [results[0], results.at(-1)];
  if (first === undefined || last === undefined) return NaN;
  return Number((Math.log(last.medianMs / first.medianMs) / Math.log(last.nodes / first.nodes)).toFixed(2));
}

const series = BUDGET_COUNTS.map((budgets) => {
  const results = NODE_COUNTS.map((nodes) => measure(nodes, budgets));
  return { budgets, goalMs: GOALS[budgets], growthExponent: growth(results), results };
});

console.log(JSON.stringify({ bench: 'preempt', podsPerNode: PODS_PER_NODE, series }, undefined, 2));
