import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { PODS } from '#shared/kube/resource.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

/*
 * What a reflector costs on a large cluster: heap kept for 50,000 pods after collection (goal: at most 60 MiB for
 * slimmed ones), highest heap while listing, and while listing again into the full store. Each page is created on
 * request, so only the store is left at the end. BENCH_PODS changes the size.
 */

const PODS_IN_ALL = Number(process.env['BENCH_PODS'] ?? 50_000);
const GOAL_MIB = 60;
const SAMPLE_MS = 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const log = createLog({ component: 'bench', level: 'silent', format: 'json' });

/** About what the scheduler keeps of a pod. */
function slimPod(raw: KubeObject): object {
  const { metadata } = raw;
  const spec = isRecord(raw['spec']) ? raw['spec'] : {};
  const [container] = spec['containers'] as readonly { resources: { requests: Record<string, string> } }[];
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    createdAt: Date.parse(metadata.creationTimestamp ?? ''),
    owner: (metadata['ownerReferences'] as readonly { uid: string }[])[0]?.uid,
    labels: metadata.labels,
    nodeName: spec['nodeName'],
    priority: spec['priority'],
    phase: (raw['status'] as { phase: string }).phase,
    cpu: container?.resources.requests['cpu'],
    memory: container?.resources.requests['memory'],
  };
}

function wholePod(raw: KubeObject): unknown {
  const decoded = decodePod(raw);
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  return decoded.value;
}

/** About 4 KB of JSON, as pods of a Deployment with two containers have. */
function rawPod(index: number): object {
  const set = Math.floor(index / 10);
  const container = (name: string): object => ({
    name,
    image: `registry.example.test/team/${name}:v1.${set % 40}.0`,
    resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } },
    env: Array.from({ length: 12 }, (_, n) => ({ name: `SETTING_${n}`, value: `value-${n}-of-${set}` })),
    volumeMounts: [{ name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }],
    terminationMessagePath: '/dev/termination-log',
    imagePullPolicy: 'IfNotPresent',
  });
  const status = (name: string): object => ({
    name,
    ready: true,
    restartCount: 0,
    containerID: `containerd://${index.toString(16).padStart(64, '0')}`,
    state: { running: { startedAt: '2026-11-01T10:00:00Z' } },
  });
  return {
    metadata: {
      name: `web-${set.toString(36)}-${index.toString(36).padStart(5, '0')}`,
      namespace: `team-${set % 200}`,
      uid: `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`,
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: '2026-11-01T10:00:00Z',
      labels: { app: `web-${set}`, 'pod-template-hash': set.toString(36) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${set}`, uid: `rs-${set}`, controller: true },
      ],
      managedFields: [{ manager: 'kubelet', fieldsV1: { 'f:status': { 'f:conditions': {}, 'f:phase': {} } } }],
    },
    spec: {
      nodeName: `node-${index % 1_000}`,
      priority: (index % 5) * 1_000,
      priorityClassName: `class-${index % 5}`,
      containers: [container('main'), container('proxy')],
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
      volumes: [{ name: 'token', projected: { sources: [] } }],
    },
    status: {
      phase: 'Running',
      qosClass: 'Burstable',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'PodScheduled', status: 'True' },
      ],
      containerStatuses: [status('main'), status('proxy')],
    },
  };
}

/** Pages as in the API server; a watch sends nothing until `relist` makes the server drop the version. */
function pagedServer(): { readonly client: KubeClient; readonly relist: () => void } {
  let wake: (() => void) | undefined;

  async function* page(query: NonNullable<KubeRequest['query']>): AsyncGenerator<Buffer> {
    const from = Number(query['continue'] ?? 0);
    const to = Math.min(PODS_IN_ALL, from + Number(query['limit']));
    const metadata = { resourceVersion: '9', continue: to < PODS_IN_ALL ? String(to) : '' };
    const items = Array.from({ length: to - from }, (_, n) => rawPod(from + n));
    const bytes = Buffer.from(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items }));
    for (let at = 0; at < bytes.length; at += 65_536) {
      await new Promise((resolve) => setImmediate(resolve));
      yield bytes.subarray(at, at + 65_536);
    }
  }

  async function* gone(): AsyncGenerator<Buffer> {
    await new Promise<void>((resolve) => (wake = resolve));
    wake = undefined;
    yield Buffer.from('{"type":"ERROR","object":{"code":410,"message":"too old"}}\n');
  }

  const client: KubeClient = {
    request: () => Promise.reject(new Error('not asked here')),
    stream: ({ query = {}, signal }) => {
      signal?.addEventListener('abort', () => wake?.(), { once: true });
      const bytes = query['watch'] === true ? gone() : page(query);
      const stream: ByteStream = { [Symbol.asyncIterator]: () => bytes, close: () => wake?.() };
      return Promise.resolve({ kind: 'ok', object: stream, warnings: [] });
    },
    close: () => undefined,
  };
  return { client, relist: () => wake?.() };
}

async function measure(slim: (raw: KubeObject) => unknown): Promise<object> {
  const { client, relist } = pagedServer();
  const before = heapMib();
  const reflector = createReflector({ client, resource: PODS, slim, clock: systemClock, random: () => 0, log });
  const stop = new AbortController();
  const startedAt = performance.now();
  const running = reflector.run(stop.signal);
  const peakMib = await peakUntil(reflector.synced);
  const listSeconds = (performance.now() - startedAt) / 1_000;
  const keptMib = heapMib() - before;
  let changes = 0;
  const relisted = new Promise<void>((resolve) => {
    reflector.onChange(() => {
      if ((changes += 1) === PODS_IN_ALL) resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  relist();
  const relistPeakMib = await peakUntil(relisted);
  const keptAfterRelistMib = heapMib() - before;
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  stop.abort();
  await running;
  const figures = { keptMib, bytesPerPod: (keptMib * 2 ** 20) / PODS_IN_ALL, keptAfterRelistMib, listSeconds };
  return {
    pods: reflector.size,
    ...rounded({ ...figures, peakMib: peakMib - before, relistPeakMib: relistPeakMib - before }),
  };
}

async function peakUntil(done: Promise<void>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().heapUsed / 2 ** 20)), SAMPLE_MS);
  await done;
  clearInterval(timer);
  return peak;
}

function heapMib(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function rounded(figures: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value * 10) / 10]));
}

const slimmed = await measure(slimPod);
const domainPods = await measure(wholePod);
process.stdout.write(`${JSON.stringify({ benchmark: 'reflector', goalMib: GOAL_MIB, slimmed, domainPods })}\n`);
