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
import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { KubeRequest } from '#shared/kube/client/kube-request.ts';
import { PROTOBUF } from '#shared/kube/protobuf/envelope.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { NAMESPACES, PRIORITY_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { bytesField, encodeEnvelope, encodeFrame, encodeMessage } from '#test/build/encode-message.ts';

const PODS = Number(process.env['BENCH_PODS'] ?? 150_000);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60);
/** Of an hour's life: created, scheduled, three times changed by the kubelet, ended, gone. */
const EVENTS_PER_SECOND = Number(process.env['BENCH_EVENTS'] ?? Math.round((PODS * 7) / 3_600));
const QUOTAS = 10;
const TEAMS = 1_000;
const PAGE_SIZE = 500;
const GOAL_SHARE = 0.02;
const SHORTEST_LIST_INTERVAL_SECONDS = 1_800;
/** `webhook/quota/relist-due.ts` */
const INTERVALS_PER_LIST = 300;
const SLICE_OF_SECOND_MS = 100;
const RESERVATIONS_PER_SECOND = 1;
const COMMA = Buffer.from(',');
const POD = 'io.k8s.api.core.v1.Pod';
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const NO_POD = { metadata: Buffer.alloc(0), rest: Buffer.alloc(0) };
const COST = amountsOf({ pods: '1', 'requests.cpu': '250m', 'requests.memory': '512Mi' });

const log = createLog({ component: 'bench', level: 'silent', format: 'json' });
let revision = PODS + 1;

function namesOf(index: number) {
  return {
    name: `web-${index.toString(36).padStart(5, '0')}`,
    namespace: `team-${index % TEAMS}`,
    uid: `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
    resourceVersion: String(index + 1),
  };
}

/** About 4 KB of JSON, or 3 KB of what is sent. */
function rawPod(index: number): KubeObject {
  const container = (name: string): object => ({
    name,
    image: `registry.test/team/${name}:v1.${index % 40}.0`,
    resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } },
    env: Array.from({ length: 20 }, (_, n) => ({ name: `SETTING_${n}`, value: `value-${n}-of-${index % 1_000}` })),
    volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
    imagePullPolicy: 'IfNotPresent',
  });
  return {
    metadata: {
      ...namesOf(index),
      generation: 1,
      labels: { app: `web-${index % 1_000}` },
      managedFields: [{ manager: 'kubelet', fieldsV1: { 'f:status': { 'f:conditions': {}, 'f:phase': {} } } }],
    },
    spec: {
      nodeName: `node-${index % 1_000}`,
      priority: (index % QUOTAS) * 1_000,
      priorityClassName: `class-${index % QUOTAS}`,
      containers: [container('main'), container('proxy')],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** From `generation` on pods are alike again after so many. */
const KINDS_OF_PODS = 1_000;
/** Metadata besides the names, spec and status of each pod. */
const kindsOfPods = Array.from({ length: KINDS_OF_PODS }, (_, index) => {
  const { metadata, ...rest } = rawPod(index);
  const { generation, labels, managedFields } = metadata;
  return {
    metadata: encodeMessage(OBJECT_META, { generation, labels, managedFields }),
    rest: encodeMessage(POD, rest),
  };
});

/** Put together from bytes, because the garbage of the bench would be collected at the webhook's expense. */
function podMessage(index: number, revised = namesOf(index)): Buffer {
  const { metadata, rest } = kindsOfPods[index % KINDS_OF_PODS] ?? NO_POD;
  const names = encodeMessage(OBJECT_META, revised);
  return Buffer.concat([bytesField(1, Buffer.concat([names, metadata])), rest]);
}

function rawQuota(index: number): KubeObject {
  return {
    metadata: { name: `quota-${index}`, uid: `quota-${index}`, generation: 1, resourceVersion: '1' },
    spec: {
      priorityClassNames: [`class-${index}`],
      hard: { pods: '1000000', 'requests.cpu': '1000000', 'requests.memory': '1Pi' },
    },
  };
}

function rawNamespace(index: number): KubeObject {
  const labels = { 'plimsoll.dev/priority-quota': 'enforced' };
  return { metadata: { name: `team-${index}`, uid: `team-${index}`, resourceVersion: '1', labels } };
}

/** Answers as an API server; what is done for its lists is measured, and events exist as bytes beforehand. */
class BenchServer {
  readonly #quotas = new Map(Array.from({ length: QUOTAS }, (_, index) => [`quota-${index}`, rawQuota(index)]));
  readonly #watches = new Map<string, (line: Buffer) => void>();
  writes = 0;
  podLists = 0;
  /** CPU seconds of making pages, which is none of the webhook's work. */
  ownSeconds = 0;

  send(kind: string, line: Buffer): void {
    this.#watches.get(kind)?.(line);
  }

  readonly client: KubeClient = {
    request: (request) => Promise.resolve({ kind: 'ok', object: this.#answer(request), warnings: [] }),
    stream: ({ path, query = {}, signal }) => {
      const kind = path.split('/').at(-1) ?? '';
      const bytes = query['watch'] === true ? this.#watch(kind, signal) : this.#list(kind, query);
      const mediaType = kind === 'pods' ? PROTOBUF : 'application/json';
      const stream: ByteStream = { mediaType, [Symbol.asyncIterator]: () => bytes, close: () => undefined };
      return Promise.resolve({ kind: 'ok', object: stream, warnings: [] });
    },
    close: () => undefined,
  };

  /** A quota, a quota's new status, or a pod to tell the revision by. */
  #answer({ path, method, body }: KubeRequest): unknown {
    const [, name = ''] = /\/priorityquotas\/([^/]+)/.exec(path) ?? [];
    const quota = this.#quotas.get(name);
    if (quota === undefined) return { metadata: { resourceVersion: String(revision) }, items: [rawPod(0)] };
    if (method !== 'PUT') return structuredClone(quota);
    this.writes += 1;
    revision += 1;
    const sent = JSON.parse(JSON.stringify(body)) as KubeObject;
    const stored = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(revision) } };
    this.#quotas.set(name, stored);
    this.send('priorityquotas', lineOf('MODIFIED', stored));
    return stored;
  }

  async *#list(kind: string, query: NonNullable<KubeRequest['query']>): AsyncGenerator<Buffer> {
    if (kind === 'pods') this.podLists += query['continue'] === undefined ? 1 : 0;
    const startedAt = cpuSeconds();
    const bytes = this.#page(kind, Number(query['continue'] ?? 0));
    this.ownSeconds += cpuSeconds() - startedAt;
    for (let at = 0; at < bytes.length; at += 65_536) {
      await new Promise((resolve) => setImmediate(resolve));
      yield bytes.subarray(at, at + 65_536);
    }
  }

  #page(kind: string, page: number): Buffer {
    const quotas = [...this.#quotas.values()];
    if (kind === 'pods') return podPage(page);
    const rawOf = kind === 'namespaces' ? rawNamespace : (n: number): unknown => quotas[n];
    return pageOf(page, kind === 'namespaces' ? TEAMS : QUOTAS, (n) => Buffer.from(JSON.stringify(rawOf(n))));
  }

  async *#watch(kind: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
    const lines: Buffer[] = [];
    let wake = Promise.withResolvers<undefined>();
    const hear = (line: Buffer | undefined): void => {
      if (line !== undefined) lines.push(line);
      wake.resolve(undefined);
    };
    this.#watches.set(kind, hear);
    signal?.addEventListener('abort', () => hear(undefined), { once: true });
    while (signal?.aborted !== true) {
      await wake.promise;
      wake = Promise.withResolvers();
      if (lines.length > 0) yield Buffer.concat(lines.splice(0));
    }
  }
}

function podPage(page: number): Buffer {
  const { indices, metadata } = cut(page, PODS);
  const { resourceVersion, continue: token = '' } = metadata;
  const listMeta = [bytesField(2, Buffer.from(resourceVersion)), bytesField(3, Buffer.from(token))];
  const items = indices.map((index) => bytesField(2, podMessage(index)));
  return encodeEnvelope('v1', 'PodList', Buffer.concat([bytesField(1, Buffer.concat(listMeta)), ...items]));
}

function cut(page: number, size: number) {
  const from = page * PAGE_SIZE;
  const isLast = from + PAGE_SIZE >= size;
  return {
    indices: Array.from({ length: Math.min(PAGE_SIZE, size - from) }, (_, n) => from + n),
    metadata: { resourceVersion: String(revision), ...(!isLast && { continue: String(page + 1) }) },
  };
}

function pageOf(page: number, size: number, jsonOf: (index: number) => Buffer): Buffer {
  const { indices, metadata } = cut(page, size);
  const items = indices.map(jsonOf);
  const head = Buffer.from(`{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
  const separated = items.flatMap((item, n) => (n === 0 ? [item] : [COMMA, item]));
  return Buffer.concat([head, ...separated, Buffer.from(']}')]);
}

function lineOf(type: string, object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

/** Five of seven events change a pod; the other two take one away and bring another one. */
function eventsOf(count: number): readonly Buffer[] {
  return Array.from({ length: count }, (_, index) => {
    const step = index % 7;
    const turn = Math.floor(index / 7);
    const pod = step === 5 ? turn : step === 6 ? PODS + turn : (turn * 5 + step) % PODS;
    revision += 1;
    const message = podMessage(pod, { ...namesOf(pod), resourceVersion: String(revision) });
    const type = step === 5 ? 'DELETED' : step === 6 ? 'ADDED' : 'MODIFIED';
    return encodeFrame(type, encodeEnvelope('v1', 'Pod', message));
  });
}

function reflect<T>(client: KubeClient, resource: Resource, decode: (raw: unknown) => Decoded<T>) {
  return createReflector({ client, resource, slim: decodeWith(decode), clock, random: Math.random, log });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function heapMib(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const server = new BenchServer();
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

const events = eventsOf(EVENTS_PER_SECOND * SECONDS);
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

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
