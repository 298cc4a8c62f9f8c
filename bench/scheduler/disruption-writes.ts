/**
 * What the record of removed pods writes on a real API server: 1,000 pods with 100 owners and 50 limits are deleted within a
 * minute, and the audit log says what the account of the record wrote, for each pod and in the busiest second. The deletion
 * of a record, a week later, is one write more. JSON on stdout. BENCH_PODS, BENCH_SECONDS.
 */
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { rounded } from '#bench/shared/support/quantile.ts';
import { accountKubeconfig, RECORDER } from '#test/cluster/support/accounts.ts';
import { type Cluster, startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { installPlimsoll } from '#test/cluster/support/install.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';
import { pod } from '#test/contract/harness.ts';
import { startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { podsOf, send } from './support/gated-pods.ts';

const PODS = Number(process.env['BENCH_PODS'] ?? 1_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
const OWNERS = 100;
const LIMITS = 50;
const NODES = 20;
const AT_ONCE = 16;
const GOALS = { writesPerPod: 3, writesPerSecond: 50 };
const FLAGS = ['--extender=Off', '--nodes-avoidance=Off', '--nodes-taints=Off', '--disruptions-record=On'];
const KINDS = '/apis/plimsoll.dev/v1alpha1/namespaces/default';
const COMPONENT = fileURLToPath(new URL('../../deploy/components/disruption-record', import.meta.url));
/** Time until the statuses of records and limits no longer change. */
const SETTLE_MS = 15_000;

async function install(admin: KubeClient, cluster: Cluster): Promise<string> {
  const { kubeconfig } = cluster;
  await installPlimsoll(kubeconfig);
  for (const part of ['rbac', 'position']) {
    const applied = await kubectl(kubeconfig, ['apply', '--server-side', '-f', `${COMPONENT}/${part}.yaml`]);
    if (applied.status !== 0) throw new Error(applied.stderr);
  }
  return accountKubeconfig({ admin, cluster, connection: await kubeconfigConnection(kubeconfig) }, RECORDER);
}

async function makeOwner(client: KubeClient, name: string): Promise<object> {
  const [apiVersion, kind] = ['v1', 'ConfigMap'];
  const path = '/api/v1/namespaces/default/configmaps';
  const made = await client.request({ method: 'POST', path, body: { apiVersion, kind, metadata: { name } } });
  if (made.kind !== 'ok') throw new Error(made.message);
  return { apiVersion, kind, name, uid: fieldOf(fieldOf(made.object, 'metadata'), 'uid'), controller: true };
}

async function makePods(client: KubeClient): Promise<readonly string[]> {
  const nodes = await makeFakeNodes(client, 'node', NODES);
  const owners = await inFlight(AT_ONCE, Array(OWNERS).keys(), (index) => makeOwner(client, `owner-${index}`));
  await inFlight(AT_ONCE, Array(LIMITS).keys(), (index) =>
    send(client, `${KINDS}/disruptionlimits`, {
      ...{ apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name: `limit-${index}` } },
      spec: { selector: { matchLabels: { app: `app-${index}` } }, limits: [{ max: 2, window: '1h' }] },
    }),
  );
  return inFlight(AT_ONCE, Array(PODS).keys(), async (index) => {
    const name = `pod-${index}`;
    const metadata = { name, labels: { app: `app-${index % OWNERS}` }, ownerReferences: [owners[index % OWNERS]] };
    const spec = { containers: [{ name: 'main', image: 'registry.test/idle:1' }], nodeName: nodes[index % NODES] };
    await send(client, podsOf('default'), { ...pod(name, spec), metadata });
    return name;
  });
}

/** At a steady pace. */
async function removeAll(client: KubeClient, names: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  await inFlight(AT_ONCE, names.entries(), async ([index, name]) => {
    await sleep(Math.max(0, startedAt + (index / names.length) * SECONDS * 1_000 - performance.now()));
    const outcome = await client.request({
      ...{ method: 'DELETE', path: podsOf('default', name), body: { gracePeriodSeconds: 0 } },
    });
    if (outcome.kind !== 'ok') throw new Error(outcome.message);
  });
}

const WRITING: ReadonlySet<unknown> = new Set(['create', 'update', 'patch', 'delete']);

/** The seconds of all writes of the account since a time, by the kind of write. */
function writesSince(auditLog: string, sinceMs: number): ReadonlyMap<string, readonly number[]> {
  const writes = new Map<string, number[]>();
  for (const line of readFileSync(auditLog, 'utf8').split('\n').slice(0, -1)) {
    const entry: unknown = JSON.parse(line);
    const at = Date.parse(String(fieldOf(entry, 'requestReceivedTimestamp')));
    const isOurs = String(fieldOf(fieldOf(entry, 'user'), 'username')).endsWith(`:${RECORDER.name}`);
    if (!isOurs || at < sinceMs || !WRITING.has(fieldOf(entry, 'verb'))) continue;
    const what = String(fieldOf(fieldOf(entry, 'objectRef'), 'resource'));
    if (what !== 'leases') writes.set(what, [...(writes.get(what) ?? []), Math.floor(at / 1_000)]);
  }
  return writes;
}

const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
const { cluster } = startup;
try {
  const client = await testClient(cluster.kubeconfig);
  const kubeconfig = await install(client, cluster);
  const names = await makePods(client);
  const [port = 0] = await freePorts(1);
  const recorder = await startSchedulerProcess(kubeconfig, port, FLAGS);
  try {
    const leads = () => Promise.resolve(recorder.log().includes('Lease acquired'));
    await waitUntil(leads, { what: 'the recorder to lead', components: [] });
    const sinceMs = Date.now();
    await removeAll(client, names);
    await sleep(SETTLE_MS);
    const writes = writesSince(cluster.auditLog, sinceMs);
    const all = [...writes.values()].flat();
    const bySecond = [...Map.groupBy(all, (second) => second).values()].map(({ length }) => length);
    const listed = await client.request({ path: `${KINDS}/disruptions` });
    const machine = { cpus: cpus().length, loadAverage: loadavg()[0], node: process.version };
    const figures = {
      ...{ pods: PODS, seconds: SECONDS, owners: OWNERS, limits: LIMITS, goals: GOALS },
      records: listed.kind === 'ok' ? itemsOf(fieldOf(listed.object, 'items')).length : undefined,
      writes: Object.fromEntries(Array.from(writes, ([what, each]) => [what, each.length])),
      writesPerPod: rounded(all.length / PODS),
      writesPerSecond: { mean: rounded(all.length / bySecond.length), most: Math.max(...bySecond) },
    };
    console.log(JSON.stringify({ bench: 'disruption-writes', machine, ...figures }, undefined, 2));
  } finally {
    await recorder.stop();
    client.close();
  }
} finally {
  await cluster.close();
}
