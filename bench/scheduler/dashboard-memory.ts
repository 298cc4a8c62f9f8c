/**
 * What the dashboard adds to the scheduler process: 500 nodes with 30 pods each, of which 50 nodes change each second, and
 * 2,000 Events, from an API server in another process over HTTP. Three processes one after the other, each with the flags
 * of the manifests: the extender alone, the extender with the dashboard, and the dashboard alone as
 * deploy/components/dashboard runs it. JSON on stdout: resident memory in MiB without pages open and with ten pages that
 * read every update, and what dashboard and pages add. BENCH_NODES, BENCH_SECONDS for each figure.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pressureOf, rawEvent, rawQuota } from './support/cluster-objects.ts';
import { type LargeCluster, openLargeCluster } from './support/large-cluster.ts';
import { type SchedulerProcess, startSchedulerProcess, untilReady } from './support/scheduler-process.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 500);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const EVENTS = 2_000;
const QUOTAS = 20;
const PAGES = 10;
const GOAL_MIB = 40;
const NO_NODES = ['--nodes-passes=Off'];
const DASHBOARD = ['--dashboard-host=127.0.0.1', '--dashboard-port=0'];

/** A tenth of the nodes in each call, one after the other. */
function changeNodes(cluster: LargeCluster, round: number): void {
  for (let index = round % 10; index < NODES; index += 10) cluster.modify('nodepressures', pressureOf(index));
}

/** Lets nodes change for some time, and returns the memory at the end. */
async function memoryAfter(process: SchedulerProcess, cluster: LargeCluster): Promise<number> {
  for (let round = 0; round < SECONDS; round += 1) {
    changeNodes(cluster, round);
    await sleep(1_000);
  }
  return process.memoryMib('VmRSS');
}

/** Opens pages that read every update; half of them show a node. Resolves to how many bytes each has read so far. */
async function openPages(port: number, signal: AbortSignal): Promise<readonly (() => number)[]> {
  const opened = Array.from({ length: PAGES }, async (_, page) => {
    const query = page % 2 === 0 ? '' : `?node=node-${page}`;
    const headers = { authorization: `Bearer token-${page}` };
    const response = await fetch(`http://127.0.0.1:${port}/api/live${query}`, { headers, signal });
    if (!response.ok || response.body === null) throw new Error(`page ${page}: ${response.status}`);
    return countBytes(response.body);
  });
  return Promise.all(opened);
}

function countBytes(body: ReadableStream<Uint8Array>): () => number {
  let bytes = 0;
  const count = async (): Promise<void> => {
    for await (const chunk of body) bytes += chunk.length;
  };
  // The stream fails when it is aborted at the end.
  void count().catch(() => undefined);
  return () => bytes;
}

async function measure(cluster: LargeCluster, flags: readonly string[]) {
  const scheduler = await startSchedulerProcess(cluster.url, [...NO_NODES, ...flags]);
  await untilReady(scheduler);
  const withoutPagesMib = await memoryAfter(scheduler, cluster);
  if (!flags.includes('--dashboard-port=0')) {
    scheduler.stop();
    return { withoutPagesMib };
  }
  const end = new AbortController();
  const pages = await openPages(scheduler.portOf('dashboardPort'), end.signal);
  const withPagesMib = await memoryAfter(scheduler, cluster);
  const kibPerPage = Math.round(Math.min(...pages.map((read) => read())) / 1_024);
  end.abort();
  const highestMib = scheduler.memoryMib('VmHWM');
  scheduler.stop();
  return { withoutPagesMib, withPagesMib, highestMib, kibPerPage };
}

const cluster = await openLargeCluster({
  nodes: NODES,
  lists: {
    nodepressures: [NODES, pressureOf],
    events: [EVENTS, rawEvent],
    priorityquotas: [QUOTAS, rawQuota],
    resourcequotas: [0, () => ({})],
  },
  review: { authenticated: true, allowed: true, user: { username: 'bench', groups: [] } },
});
const extender = await measure(cluster, []);
const both = await measure(cluster, DASHBOARD);
const dashboard = await measure(cluster, ['--extender=Off', ...DASHBOARD]);
cluster.server.closeAllConnections();
cluster.server.close();
const moreMib = Math.round(((both.withPagesMib ?? NaN) - extender.withoutPagesMib) * 10) / 10;
const figures = { nodes: NODES, pods: cluster.pods, pages: PAGES, seconds: SECONDS, extender, both, dashboard };
console.log(
  JSON.stringify({ bench: 'dashboard-memory', ...figures, moreMib, isGoalMet: moreMib <= GOAL_MIB }, undefined, 2),
);
