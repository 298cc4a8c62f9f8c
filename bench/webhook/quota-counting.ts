/**
 * What counting for PriorityQuotas costs one replica of the webhook on a large cluster: its view of the pods and ten
 * ledgers run with the settings and V8 flags of deploy/base, against an API server in the same process, whose own work is
 * left out as far as it can be separated; TLS is not in it. `list`: the first list of all pods. `steady`: pods that come,
 * change and go at a rate that a cluster of this size may have for hours, reservations of pods that never come among them.
 * The share of a core counts a list as often as one comes at most. JSON on stdout; CPU time, which a busy machine makes
 * up to twice as long. BENCH_PODS, BENCH_SECONDS and BENCH_EVENTS (a second).
 */
import { loadavg } from 'node:os';
import { decodeCachedNamespace, decodeCachedQuota } from '#webhook/cluster-state/caches.ts';
import { Ledgers } from '#webhook/quota/ledgers.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createReflector, decodeWith } from '#shared/kube/reflector/reflector.ts';
import { NAMESPACES, PRIORITY_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { cpuSeconds } from '#bench/shared/support/cpu-seconds.ts';
import { rounded } from '#bench/shared/support/quantile.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { BenchServer } from './counting/bench-server.ts';
import { QUOTAS, TEAMS } from './counting/pod-messages.ts';

const PODS = Number(process.env['BENCH_PODS'] ?? 150_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
/** The life of a pod within an hour: created, scheduled, changed three times by the kubelet, ended, deleted. */
const EVENTS_PER_SECOND = Number(process.env['BENCH_EVENTS'] ?? Math.round((PODS * 7) / 3_600));
const GOAL_SHARE = 0.02;
const SHORTEST_LIST_INTERVAL_SECONDS = 1_800;
/** `webhook/quota/pod-list.ts` */
const INTERVALS_PER_LIST = 300;
const SLICE_OF_SECOND_MS = 100;
const RESERVATIONS_PER_SECOND = 1;
const COST = amountsOf({ pods: '1', 'requests.cpu': '250m', 'requests.memory': '512Mi' });

const log = createLog({ component: 'bench', level: 'silent', format: 'json' });

function reflect<T>(client: KubeClient, resource: Resource, decode: (raw: unknown) => Decoded<T>) {
  return createReflector({ client, resource, slim: decodeWith(decode), clock, random: Math.random, log });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function heapMib(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const server = new BenchServer(PODS);
const { client } = server;
const quotas = reflect(client, PRIORITY_QUOTAS, decodeCachedQuota);
const namespaces = reflect(client, NAMESPACES, decodeCachedNamespace);
const ledgers = new Ledgers({
  client,
  quotas,
  namespaces,
  reservationMs: 120_000,
  sliceAfterMs: 0,
  clock,
  random: Math.random,
  log,
  metrics: createMetrics('bench'),
});
const stop = new AbortController();
const emptyMib = heapMib();
const before = cpuSeconds();
void quotas.run(stop.signal);
void namespaces.run(stop.signal);
await Promise.all([quotas.synced, namespaces.synced]);
void ledgers.run(stop.signal);
while (ledgers.check.problem() !== undefined) await sleep(SLICE_OF_SECOND_MS);
const listCpuSeconds = cpuSeconds() - before - server.ownSeconds;
const keptMib = heapMib() - emptyMib;

const events = server.events(EVENTS_PER_SECOND * SECONDS);
globalThis.gc?.();
const perSlice = (EVENTS_PER_SECOND * SLICE_OF_SECOND_MS) / 1_000;
const wholeBefore = cpuSeconds() - server.ownSeconds;
let heard = 0;
for (let slice = 1; slice <= (SECONDS * 1_000) / SLICE_OF_SECOND_MS; slice += 1) {
  while (heard < Math.min(events.length, slice * perSlice)) {
    const line = events[heard];
    if (line !== undefined) server.send('pods', line);
    heard += 1;
  }
  if (slice % Math.round(1_000 / SLICE_OF_SECOND_MS / RESERVATIONS_PER_SECOND) === 0) reserveInVain(slice);
  await sleep(SLICE_OF_SECOND_MS);
}
const steadyCpuSeconds = cpuSeconds() - server.ownSeconds - wholeBefore;
stop.abort();

function reserveInVain(slice: number): void {
  const uid = `never-${slice}`;
  const reservation = { uid, namespace: `team-${slice % TEAMS}`, pod: uid, amounts: COST, admittedAt: 0 };
  void ledgers.ledger(`quota-${slice % QUOTAS}`).reserve(reservation, { withinMs: 5_000, isDryRun: false });
}

const listInterval = Math.max(SHORTEST_LIST_INTERVAL_SECONDS, INTERVALS_PER_LIST * listCpuSeconds);
const shareOfCore = steadyCpuSeconds / SECONDS + listCpuSeconds / listInterval;
const results = {
  pods: PODS,
  namespaces: TEAMS,
  quotas: QUOTAS,
  eventsPerSecond: EVENTS_PER_SECOND,
  listCpuSeconds: rounded(listCpuSeconds, 2),
  steadyShare: rounded(steadyCpuSeconds / SECONDS, 4),
  shareOfCore: rounded(shareOfCore, 4),
  keptMib: rounded(keptMib, 1),
  residentMib: rounded(process.memoryUsage.rss() / 2 ** 20, 0),
  bytesPerPod: Math.round((keptMib * 2 ** 20) / PODS),
  ledgerWrites: server.writes,
  podLists: server.podLists,
};
const machine = { loadAverage: loadavg()[0], node: process.version, flags: process.execArgv };
const goal = { shareOfCore: GOAL_SHARE };
const isMet = shareOfCore <= GOAL_SHARE;
console.log(JSON.stringify({ bench: 'quota-counting', machine, results, goal, isMet }, null, 2));
process.exit();
