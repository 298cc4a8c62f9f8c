/**
 * What the gate for evictions adds to one on a real API server, and one status update in the same run. By namespace:
 * without the label (`plain`); with it and without a limit (`unlimited`); with a limit of a rate (`limited`), and with one
 * that counts pods, too (`counted`); and the least that is possible: a webhook that answers at once (`floor`), and one that
 * writes one status before it answers (`floor-and-write`). Pods are pending, because Kubernetes 1.36 lets the eviction of a
 * running one wait for up to 100 ms, which hides the gate. Each round has one block of each, in an order of its own. JSON
 * on stdout. BENCH_ROUNDS, BENCH_EVICTIONS.
 */
import { cpus, loadavg } from 'node:os';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { median, quantile, rounded } from '#bench/shared/support/quantile.ts';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { startInstalledWebhook } from '#test/cluster/support/installed-webhook.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { startFloorServer } from './eviction/floor-server.ts';
import { createStatusWriter, type StatusWriter } from './eviction/status-writer.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 8);
const EVICTIONS = Number(process.env['BENCH_EVICTIONS'] ?? 30);
/** Before what is measured: the account is created with the first. */
const FIRST = 3;
const SEED = 7;
const AT_ONCE = 4;
const GOAL = 'limited adds at most 1.2 of statusUpdate';
const ENFORCED = { 'plimsoll.dev/disruption-limits': 'enforced' };
const RATES = [{ max: 1_000, window: '1h' }];
/** The labels of each namespace, and what its limit says. */
const NAMESPACES: Readonly<Record<string, { readonly labels?: object; readonly limit?: object }>> = {
  plain: {},
  unlimited: { labels: ENFORCED },
  limited: { labels: ENFORCED, limit: { limits: RATES } },
  counted: { labels: ENFORCED, limit: { limits: RATES, minAvailable: 1 } },
  floor: {},
  'floor-and-write': {},
};
/** Not removed within a block. */
const KEPT = 50;
const accountsOf = (namespace: string): string => `/apis/${API_VERSION}/namespaces/${namespace}/disruptionaccounts`;
const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

async function post(client: KubeClient, path: string, body: object): Promise<void> {
  const outcome = await client.request({ method: 'POST', path, body });
  if (outcome.kind !== 'ok') throw new Error(`cannot create at ${path}: ${outcome.message}`);
}

async function makeNamespace(client: KubeClient, namespace: string): Promise<void> {
  const { labels, limit } = NAMESPACES[namespace] ?? {};
  await post(client, '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  if (limit !== undefined)
    await post(client, `/apis/${API_VERSION}/namespaces/${namespace}/disruptionlimits`, {
      apiVersion: API_VERSION,
      kind: 'DisruptionLimit',
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, ...limit },
    });
  await makePods(client, namespace, namesOf('kept', KEPT));
}

function namesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

async function makePods(client: KubeClient, namespace: string, names: readonly string[]): Promise<void> {
  const spec = { nodeName: 'node-0', containers: [{ name: 'main', image: 'registry.test/idle:1' }] };
  await inFlight(AT_ONCE, names, async (name) => {
    await post(client, podsOf(namespace), { metadata: { name, labels: { app: 'web' } }, spec });
  });
}

async function evict(client: KubeClient, namespace: string, name: string): Promise<number> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  const begin = performance.now();
  await post(client, `${podsOf(namespace)}/${name}/eviction`, body);
  return performance.now() - begin;
}

/** The times of one block, after an account that begins anew. */
async function runBlock(client: KubeClient, variant: string, writeStatus: StatusWriter): Promise<readonly number[]> {
  const times: number[] = [];
  if (variant === 'statusUpdate') {
    for (let index = 0; index < FIRST + EVICTIONS; index += 1) {
      const begin = performance.now();
      await writeStatus();
      times.push(performance.now() - begin);
    }
  } else {
    await client.request({ method: 'DELETE', path: `${accountsOf(variant)}/plimsoll` });
    const names = namesOf('pod', FIRST + EVICTIONS);
    await makePods(client, variant, names);
    for (const name of names) times.push(await evict(client, variant, name));
    // No kubelet terminates them.
    await inFlight(AT_ONCE, names, (name) =>
      client.request({ method: 'DELETE', path: `${podsOf(variant)}/${name}`, query: { gracePeriodSeconds: 0 } }),
    );
  }
  return times.slice(FIRST);
}

async function measure({ kubeconfig, folder }: Cluster): Promise<object> {
  await installPlimsoll(kubeconfig);
  const connection = await kubeconfigConnection(kubeconfig);
  const client = createClient(connection, { userAgent: 'plimsoll-bench' });
  const webhook = await startInstalledWebhook({ folder, client, connection, failurePolicy: 'Ignore' });
  const writeStatus = createStatusWriter(client);
  const floor = await startFloorServer(client, writeStatus);
  await makeFakeNodes(client, 'node', 1);
  for (const namespace of Object.keys(NAMESPACES)) await makeNamespace(client, namespace);
  const random = randomSource(SEED);
  const variants = [...Object.keys(NAMESPACES), 'statusUpdate'];
  const blocks = new Map<string, (readonly number[])[]>(variants.map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const name of random.shuffled(variants)) {
      const times = await runBlock(client, name, writeStatus);
      // The first round warms up.
      if (round > 0) blocks.get(name)?.push(times);
    }
  floor.closeAllConnections();
  floor.close();
  client.close();
  await webhook.stop();
  return report(blocks);
}

/** The median of the medians of the blocks, and its difference to `plain`, also in status updates. */
function report(blocks: ReadonlyMap<string, readonly (readonly number[])[]>): object {
  const p50 = (name: string): number => median((blocks.get(name) ?? []).map((times) => median(times)));
  const [plain, update] = [p50('plain'), p50('statusUpdate')];
  const figures = Array.from(blocks, ([name, own]) => {
    const added = p50(name) - plain;
    const times = { p50Ms: rounded(p50(name)), p90Ms: rounded(quantile(own.flat(), 0.9)) };
    return [
      name,
      name === 'statusUpdate' || name === 'plain'
        ? times
        : { ...times, addedMs: rounded(added), inStatusUpdates: rounded(added / update) },
    ] as const;
  });
  return Object.fromEntries(figures);
}

const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
try {
  const loadBefore = loadavg()[0];
  const figures = await measure(startup.cluster);
  const machine = { cpus: cpus().length, node: process.version, loadBefore, loadAfter: loadavg()[0] };
  const size = { rounds: ROUNDS, evictions: EVICTIONS, seed: SEED };
  console.log(JSON.stringify({ bench: 'eviction-gate', goal: GOAL, machine, ...size, figures }, undefined, 2));
} finally {
  await startup.cluster.close();
}
