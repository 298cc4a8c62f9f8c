/**
 * How fast the leader of the queues takes gates off on a real API server, with the policies, the rights and the flags of
 * deploy/components/queues. Gates taken off per second are compared with the PATCH requests per second of one client with
 * as many in flight, in pairs whose order changes. Then a queue whose maximum is one pod: from the end of its pod until the
 * gate of the next one is off. No kube-scheduler takes the pods, whose writes would come in between. JSON on stdout.
 * BENCH_PODS for each half of a pair, some seconds of work beside which the start of a pass counts little; BENCH_ROUNDS,
 * BENCH_ENDS.
 */
import { randomInt } from 'node:crypto';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { PODS } from '#shared/kube/resource.ts';
import { median, quantile, rounded } from '#bench/shared/support/quantile.ts';
import { startCluster } from '#test/cluster/support/control-plane/cluster.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { startSchedulerProcess, type SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { createGatedPods, gateIsOff, installQueues, manage, podsOf, send } from './support/gated-pods.ts';

const COUNT = Number(process.env['BENCH_PODS'] ?? 1_500);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 4);
const ENDS = Number(process.env['BENCH_ENDS'] ?? 200);
/** As many as the leader has in flight. */
const AT_ONCE = 16;
const POLL_MS = 2;
/** Rendering metrics takes time from the leader that is measured. */
const METRICS_POLL_MS = 50;
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--queues-passes=On'];
const GOALS = { ratio: 0.8, freedToOffMs: { p50: 300, p99: 2_000 } };

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1_000;
}

async function patchAll(client: KubeClient, namespace: string): Promise<void> {
  await inFlight(AT_ONCE, Array(COUNT).keys(), async (index) => {
    const patch = { metadata: { annotations: { measured: 'plain' } } };
    const address = { resource: PODS, namespace, name: `pod-${index}` };
    const outcome = await patchObject(client, address, patch, { type: 'merge' });
    if (outcome.kind !== 'ok') throw new Error(`cannot patch pod-${index}: ${outcome.message}`);
  });
}

async function gatesOff(leader: SchedulerProcess): Promise<number> {
  const found = /plimsoll_queue_gates_total\{outcome="ok"\} (?<count>\d+)/.exec(await leader.metrics());
  return Number(found?.groups?.['count'] ?? 0);
}

/** From the creation of the queue that lets all of them in. */
async function letAllIn(client: KubeClient, leader: SchedulerProcess, namespace: string): Promise<void> {
  const before = await gatesOff(leader);
  await send(client, '/apis/plimsoll.dev/v1alpha1/queues', {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'Queue',
    metadata: { name: namespace },
    spec: { namespaceSelector: { matchLabels: { team: namespace } } },
  });
  while ((await gatesOff(leader)) < before + COUNT) await sleep(METRICS_POLL_MS);
}

async function measureRates(client: KubeClient, leader: SchedulerProcess) {
  const rounds: { patches: number; gates: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const namespace = `round-${round}`;
    await manage(client, namespace);
    await createGatedPods(client, namespace, COUNT);
    const rates = { patches: 0, gates: 0 };
    const patch = async () => (rates.patches = COUNT / (await secondsOf(() => patchAll(client, namespace))));
    const letIn = async () => (rates.gates = COUNT / (await secondsOf(() => letAllIn(client, leader, namespace))));
    for (const half of round % 2 === 0 ? [patch, letIn] : [letIn, patch]) await half();
    await client.request({ method: 'DELETE', path: podsOf(namespace), body: { gracePeriodSeconds: 0 } });
    rounds.push(rates);
  }
  const ratios = rounds.map(({ gates, patches }) => gates / patches);
  return {
    ratio: rounded(median(ratios)),
    gatesPerSecond: rounded(median(rounds.map(({ gates }) => gates)), 0),
    patchesPerSecond: rounded(median(rounds.map(({ patches }) => patches)), 0),
    ratios: ratios.map((ratio) => rounded(ratio)),
  };
}

async function untilOff(client: KubeClient, path: string): Promise<void> {
  for (;;) {
    const outcome = await client.request({ path });
    if (outcome.kind === 'ok' && gateIsOff(outcome.object)) return;
    await sleep(POLL_MS);
  }
}

/** The pods of a namespace in the order in which they are let in, once one of them is in. */
async function orderIn(client: KubeClient, namespace: string, count: number): Promise<readonly string[]> {
  for (;;) {
    const outcome = await client.request({ path: podsOf(namespace) });
    if (outcome.kind !== 'ok') throw new Error(outcome.message);
    const items = fieldOf(outcome.object, 'items') as readonly RawPod[];
    const inside = items.filter(gateIsOff);
    const waiting = items.filter((item) => !inside.includes(item));
    if (items.length !== count || inside.length > 1) throw new Error('pods are missing, or too many are in');
    if (inside.length === 1) return [...inside, ...inOrder(waiting)].map(({ metadata }) => metadata.name);
    await sleep(POLL_MS);
  }
}

async function measureEnds(client: KubeClient) {
  const namespace = 'tight';
  await manage(client, namespace);
  await send(client, '/apis/plimsoll.dev/v1alpha1/queues', {
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'Queue',
    metadata: { name: namespace },
    spec: { namespaceSelector: { matchLabels: { team: namespace } }, max: { cpu: '1m' } },
  });
  await createGatedPods(client, namespace, ENDS + 1);
  const ordered = await orderIn(client, namespace, ENDS + 1);
  const times: number[] = [];
  for (const [index, name] of ordered.slice(0, ENDS).entries()) {
    await sleep(randomInt(300));
    const startedAt = performance.now();
    await client.request({ method: 'DELETE', path: podsOf(namespace, name), body: { gracePeriodSeconds: 0 } });
    await untilOff(client, podsOf(namespace, ordered[index + 1]));
    times.push(performance.now() - startedAt);
  }
  const of = (share: number): number => rounded(quantile(times, share), 0);
  return { ends: times.length, p50: of(0.5), p90: of(0.9), p99: of(0.99) };
}

interface RawPod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
}

/** By age in whole seconds, then UID, as `compareWaiting`. */
function inOrder(pods: readonly RawPod[]): readonly RawPod[] {
  const keyOf = ({ metadata }: RawPod): string => `${metadata.creationTimestamp} ${metadata.uid}`;
  return pods.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const startup = await startCluster();
if (startup.kind === 'missing') throw new Error(`cannot measure: ${startup.because}`);
const { cluster } = startup;
try {
  await cluster.stop('kube-scheduler');
  const client = await testClient(cluster.kubeconfig);
  const kubeconfig = await installQueues(client, cluster);
  const [port = 0] = await freePorts(1);
  const leader = await startSchedulerProcess(kubeconfig, port, FLAGS);
  try {
    const freedToOffMs = await measureEnds(client);
    const rates = await measureRates(client, leader);
    const machine = { cpus: cpus().length, loadAverage: loadavg()[0], node: process.version };
    const figures = { pods: COUNT, rounds: ROUNDS, goals: GOALS, ...rates, freedToOffMs };
    console.log(JSON.stringify({ bench: 'queue-gates', machine, ...figures }, undefined, 2));
  } finally {
    await leader.stop();
    client.close();
  }
} finally {
  await cluster.close();
}
