/**
 * What the scheduler process needs on a large cluster: 5,000 nodes with 30 pods each, read from an API server in another
 * process over HTTP without TLS, with the V8 flags of deploy/components/scheduler-second and
 * its compiled code, as in the image. JSON on stdout: seconds until
 * it is ready, resident memory then and at most, and how long its event loop was blocked at most. BENCH_NODES.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProtobuf, PROTOBUF } from '#shared/kube/protobuf/envelope.ts';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import { bytesField, encodeEnvelope, encodeMessage } from '#test/build/encode-message.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';

const NODES = Number(process.env['BENCH_NODES'] ?? 5_000);
const PODS_PER_NODE = 30;
const PODS = NODES * PODS_PER_NODE;
const PODS_PER_OWNER = 10;
const NAMESPACES = 200;
const V8_FLAGS = ['--no-maglev', '--max-semi-space-size=4', '--max-old-space-size=288'];
const MAIN = fileURLToPath(new URL('../../scheduler/main.ts', import.meta.url));
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
/** At each signal, prints to standard error how long the event loop was blocked since the previous one. */
const MONITOR = `
import { monitorEventLoopDelay } from 'node:perf_hooks';
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  console.error('blocked ' + delay.max / 1e6 + ' ' + delay.percentile(99.9) / 1e6 + ';');
  delay.reset();
});`;

/** What the pods of one owner have in common; about 2 KB of protocol buffers. */
function ownerParts(owner: number) {
  const env = Array.from({ length: 12 }, (_, n) => ({ name: `SETTING_${n}`, value: `value-${n}-of-${owner}` }));
  const resources = { requests: { cpu: '250m', memory: '512Mi' }, limits: { memory: '1Gi' } };
  const container = (name: string) => ({ name, image: `registry.test/${name}:v1.${owner % 40}.0`, resources, env });
  const labels = { app: `web-${owner}`, 'pod-template-hash': owner.toString(36) };
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${owner}`, uid: `rs-${owner}`, controller: true },
  ];
  const statuses = ['main', 'proxy'].map((name) => ({
    name,
    ready: true,
    resources,
    allocatedResources: resources.requests,
  }));
  const tolerations = [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }];
  return {
    metadata: encodeMessage(META, { namespace: `team-${owner % NAMESPACES}`, labels, ownerReferences }),
    spec: encodeMessage('io.k8s.api.core.v1.PodSpec', {
      priority: (owner % 5) * 1_000,
      priorityClassName: `class-${owner % 5}`,
      containers: [container('main'), container('proxy')],
      tolerations,
    }),
    status: encodeMessage('io.k8s.api.core.v1.PodStatus', {
      phase: 'Running',
      qosClass: 'Burstable',
      conditions: ['Ready', 'PodScheduled', 'Initialized'].map((type) => ({ type, status: 'True' })),
      containerStatuses: statuses,
    }),
  };
}

const owners = Array.from({ length: PODS / PODS_PER_OWNER }, (_, owner) => ownerParts(owner));

/** Pods of an owner are on different nodes, and have started at different times. */
function podMessage(index: number): Buffer {
  const own = owners[index % owners.length] as ReturnType<typeof ownerParts>;
  const name = `web-${(index % owners.length).toString(36)}-${index.toString(36).padStart(10, '0')}`;
  const uid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  const metadata = encodeMessage(META, { name, uid, resourceVersion: String(index + 1) });
  const spec = bytesField(10, Buffer.from(`node-${index % NODES}`));
  const startTime = bytesField(7, Buffer.concat([Buffer.from([8]), varint(1_790_000_000 + index)]));
  return Buffer.concat([
    bytesField(1, Buffer.concat([own.metadata, metadata])),
    bytesField(2, Buffer.concat([own.spec, spec])),
    bytesField(3, Buffer.concat([own.status, startTime])),
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

function rawNode(index: number): object {
  const name = `node-${index}`;
  const allocatable = { cpu: '32', memory: '64Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': `zone-${index % 3}` };
  return { metadata: { name, uid: `uid-${name}`, resourceVersion: '1', labels }, spec: {}, status: { allocatable } };
}

function rawNamespace(index: number): object {
  return { metadata: { name: `team-${index}`, uid: `team-${index}`, resourceVersion: '1', labels: {} } };
}

function rawClass(index: number): object {
  return { metadata: { name: `class-${index}`, uid: `class-${index}`, resourceVersion: '1' }, value: index * 1_000 };
}

const LISTS: Readonly<Record<string, readonly [number, (index: number) => object]>> = {
  nodes: [NODES, rawNode],
  namespaces: [NAMESPACES, rawNamespace],
  priorityclasses: [5, rawClass],
  poddisruptionbudgets: [0, () => ({})],
};

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://server');
  const plural = url.pathname.split('/').at(-1) ?? '';
  if (url.searchParams.get('watch') === 'true') response.writeHead(200).flushHeaders();
  else if (plural === 'pods' && isProtobuf(request.headers.accept)) sendPods(url, response);
  else if (LISTS[plural] === undefined) response.writeHead(404).end('{"kind":"Status","code":404}');
  else sendList(plural, url, response);
}

function sendPods({ searchParams }: URL, response: ServerResponse): void {
  const from = Number(searchParams.get('continue') ?? 0);
  const to = Math.min(PODS, from + Number(searchParams.get('limit')));
  const token = to < PODS ? [bytesField(3, Buffer.from(String(to)))] : [];
  const metadata = bytesField(1, Buffer.concat([bytesField(2, Buffer.from(String(PODS + 1))), ...token]));
  const items = Array.from({ length: to - from }, (_, n) => bytesField(2, podMessage(from + n)));
  response.writeHead(200, { 'content-type': PROTOBUF });
  response.end(encodeEnvelope('v1', 'PodList', Buffer.concat([metadata, ...items])));
}

function sendList(plural: string, { searchParams }: URL, response: ServerResponse): void {
  const [size, make] = LISTS[plural] ?? [0, () => ({})];
  const from = Number(searchParams.get('continue') ?? 0);
  const to = Math.min(size, from + Number(searchParams.get('limit')));
  const metadata = { resourceVersion: '9', ...(to < size && { continue: String(to) }) };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ metadata, items: Array.from({ length: to - from }, (_, n) => make(from + n)) }));
}

function memoryMib(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  const [, kib] = new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 102.4) / 10;
}

const server = createServer(answer).listen(0, '127.0.0.1');
await once(server, 'listening');
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
for (const file of ['token', 'ca']) writeFileSync(join(folder, file), 'bench');
const { port } = server.address() as AddressInfo;
const flags = ['--host=127.0.0.1', '--port=0', '--health-host=127.0.0.1', '--health-port=0', '--drain-seconds=0'];
const monitor = `--import=data:text/javascript,${encodeURIComponent(MONITOR)}`;
const files = { PLIMSOLL_TOKEN_FILE: join(folder, 'token'), PLIMSOLL_CA_FILE: join(folder, 'ca') };
const NODE_COMPILE_CACHE = COMPILE_CACHE;
const env = { ...process.env, PLIMSOLL_SERVER: `http://127.0.0.1:${port}`, NODE_COMPILE_CACHE, ...files };
spawnSync(process.execPath, [...V8_FLAGS, MAIN, '--help'], { env });
const startedAt = performance.now();
const child = spawn(process.execPath, [...V8_FLAGS, monitor, MAIN, ...flags], {
  env,
  stdio: ['ignore', 'pipe', 'pipe'],
});
let said = '';
for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
const pid = child.pid ?? 0;

async function isReady(): Promise<boolean> {
  const [, healthPort] = /"healthPort":(\d+)/.exec(said) ?? [];
  return healthPort !== undefined && (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok;
}

await waitUntil(() => Promise.resolve(said.includes('healthPort')), { what: 'its start', components: [] });
child.kill('SIGUSR2');
await waitUntil(isReady, { what: 'the scheduler process to be ready', components: [] });
const readySeconds = Math.round((performance.now() - startedAt) / 10) / 100;
const figures = {
  nodes: NODES,
  pods: PODS,
  readySeconds,
  rssMib: memoryMib(pid, 'VmRSS'),
  highestMib: memoryMib(pid, 'VmHWM'),
};
child.kill('SIGUSR2');
await waitUntil(() => Promise.resolve(said.split('blocked ').length > 2), {
  what: 'the delay of its event loop',
  components: [],
});
const [, longest, p999] = /blocked (\S+) (\S+);\s*$/.exec(said) ?? [];
child.kill('SIGTERM');
server.closeAllConnections();
server.close();
rmSync(folder, { recursive: true });
const blocked = { longestBlockMs: Math.round(Number(longest)), p999BlockMs: Math.round(Number(p999)) };
console.log(JSON.stringify({ bench: 'extender-memory', ...figures, ...blocked }, undefined, 2));
