/**
 * What the extender costs kube-scheduler: two real ones of the same build, one with the extender as it is shipped (verbs
 * preempt and filter), on 500 fake nodes. They take turns; the one that is not measured is stopped. A block of pods is
 * created while its scheduler is stopped, so that the API server's rate of creates does not count. Measured: pods bound
 * per second, of pods that fit and of pods that each preempt one; both at kube-scheduler's own rate of requests (50 a
 * second, as it is shipped) and without that limit, where the cost of the extender alone shows. JSON on stdout.
 * BENCH_NODES, BENCH_PODS, BENCH_PREEMPTORS, BENCH_ROUNDS and BENCH_VERBS (such as `preempt`) set the sizes.
 */
import { cpus, loadavg } from 'node:os';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { median, rounded } from '#bench/shared/support/quantile.ts';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { type PausedScheduler, startPausedScheduler } from './support/paused-scheduler.ts';
import { createPods, type Load, missingOf, removePods, throughputOf } from './support/throughput.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 500);
const PODS = Number(process.env['BENCH_PODS'] ?? 500);
const PREEMPTORS = Number(process.env['BENCH_PREEMPTORS'] ?? 150);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 4);
const VERBS = (process.env['BENCH_VERBS'] ?? 'preempt,filter').split(',');
/** A limit that neither of them reaches. */
const UNLIMITED = { qps: 5_000, burst: 10_000 };
/** A node has 8 CPUs: four of these fill it, and each preemptor replaces one. */
const VICTIM: Load = { label: 'victim', count: NODES * 4, priorityClassName: 'low', cpu: '2' };
const PREEMPTOR: Load = { label: 'preemptor', count: PREEMPTORS, priorityClassName: 'high', cpu: '2' };
const SMALL: Load = { label: 'small', count: PODS, priorityClassName: 'low', cpu: '10m' };

interface Bench {
  readonly client: KubeClient;
  /** Without the extender, and with it. */
  readonly schedulers: readonly [plain: PausedScheduler, extended: PausedScheduler];
}

/** Pods per second of both, one pair per round; the order alternates. */
async function runRounds({ client, schedulers }: Bench, load: Load, prepare: () => Promise<void>) {
  const rounds: { plain: number; extended: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const rates = new Map<PausedScheduler, number>();
    for (const scheduler of round % 2 === 0 ? schedulers : schedulers.toReversed()) {
      await prepare();
      rates.set(scheduler, await throughputOf(client, scheduler, load));
      await removePods(client, load.label);
    }
    const [plain = NaN, extended = NaN] = schedulers.map((each) => rates.get(each));
    rounds.push({ plain, extended });
  }
  return summaryOf(rounds);
}

function summaryOf(rounds: readonly { readonly plain: number; readonly extended: number }[]) {
  const ratios = rounds.map(({ plain, extended }) => extended / plain);
  return {
    ratio: rounded(median(ratios)),
    plainPerSecond: rounded(median(rounds.map(({ plain }) => plain))),
    extendedPerSecond: rounded(median(rounds.map(({ extended }) => extended))),
    ratios: ratios.map((ratio) => rounded(ratio)),
  };
}

async function measure(cluster: Cluster): Promise<object> {
  const client = await testClient(cluster.kubeconfig);
  await cluster.stop('kube-scheduler');
  await prepareCluster(client);
  const [port = 0] = await freePorts(1);
  const off = ['--nodes-passes=Off'];
  const extender = await startSchedulerProcess(cluster.kubeconfig, port, off);
  const verbs = Object.fromEntries(VERBS.map((verb) => [`${verb}Verb`, verb]));
  const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true, httpTimeout: '5s' };
  try {
    const shippedRate = await measurePair(cluster, client, { entry });
    const unlimitedRate = await measurePair(cluster, client, { entry, rate: UNLIMITED });
    return { verbs: VERBS, shippedRate, unlimitedRate };
  } finally {
    await extender.stop();
    client.close();
  }
}

interface PairOptions {
  /** Of the extender, in kube-scheduler's configuration. */
  readonly entry: object;
  readonly rate?: typeof UNLIMITED;
}

async function measurePair(cluster: Cluster, client: KubeClient, { entry, ...rate }: PairOptions): Promise<object> {
  const suffix = rate.rate === undefined ? 'shipped' : 'unlimited';
  const schedulers = [
    await startPausedScheduler(cluster, { name: `plain-${suffix}`, extenders: [], ...rate }),
    await startPausedScheduler(cluster, { name: `extended-${suffix}`, extenders: [entry], ...rate }),
  ] as const;
  try {
    return await measureBoth({ client, schedulers });
  } finally {
    await Promise.all(schedulers.map((each) => each.stop()));
  }
}

async function prepareCluster(client: KubeClient): Promise<void> {
  await makeFakeNodes(client, 'node', NODES);
  const path = '/apis/scheduling.k8s.io/v1/priorityclasses';
  for (const [name, value] of [
    ['low', 1],
    ['high', 100],
  ] as const) {
    await client.request({ method: 'POST', path, body: { metadata: { name }, value } });
  }
}

async function measureBoth(bench: Bench): Promise<object> {
  const { client, schedulers } = bench;
  for (const each of schedulers) {
    await throughputOf(client, each, { ...SMALL, label: `warm-up-${each.name}`, count: 20 });
    await removePods(client, `warm-up-${each.name}`);
  }
  const fitting = await runRounds(bench, SMALL, () => Promise.resolve());
  const onNode = (index: number) => ({ nodeName: `node-${index % NODES}` });
  const refill = async () => createPods(client, VICTIM, onNode, await missingOf(client, VICTIM));
  const preempting = await runRounds(bench, PREEMPTOR, refill);
  return { fitting: { pods: PODS, ...fitting }, preempting: { pods: PREEMPTORS, ...preempting } };
}

const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
try {
  const results = await measure(startup.cluster);
  const machine = { cpus: cpus().length, loadAverage: loadavg()[0], node: process.version };
  const goals = { fitting: 0.95, preempting: 0.7 };
  console.log(
    JSON.stringify(
      { bench: 'scheduler-throughput', machine, nodes: NODES, rounds: ROUNDS, goals, ...results },
      undefined,
      2,
    ),
  );
} finally {
  await startup.cluster.close();
}
