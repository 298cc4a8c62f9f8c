import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isProtobuf, PROTOBUF } from '#shared/kube/protobuf/envelope.ts';
import { bytesField, encodeEnvelope, encodeMessage } from '#test/build/encode-message.ts';

const PODS_PER_NODE = 30;
const PODS_PER_OWNER = 10;
const NAMESPACES = 200;
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Lists by plural: how many objects there are, and each of them. */
export type Lists = Readonly<Record<string, readonly [count: number, make: (index: number) => object]>>;

export interface LargeClusterOptions {
  readonly nodes: number;
  /** Of further kinds, as JSON. */
  readonly lists?: Lists;
  /** The status of each review that is created. */
  readonly review?: object;
}

/** An API server over HTTP without TLS that lists a cluster of 30 pods a node. */
export interface LargeCluster {
  readonly server: Server;
  readonly url: string;
  readonly pods: number;
  /** Sends an object to every watch of its kind. */
  readonly modify: (plural: string, object: object) => void;
}

/** Opens it on a free loopback port. */
export async function openLargeCluster({ nodes, lists = {}, review }: LargeClusterOptions): Promise<LargeCluster> {
  const pods = nodes * PODS_PER_NODE;
  const owners = Array.from({ length: pods / PODS_PER_OWNER }, (_, owner) => ownerParts(owner));
  const all: Lists = { ...commonLists(nodes), ...lists };
  const watches = new Map<string, Set<ServerResponse>>();
  const message = (index: number) => podMessage(index, owners, nodes);

  const leases = new Map<string, object>();

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://server');
    const plural = url.pathname.split('/').at(-1) ?? '';
    const lease = leases.get(url.pathname);
    if (request.method === 'GET' && lease !== undefined) sendJson(response, lease);
    else if (url.pathname.includes('/leases') && request.method !== 'GET') void keepLease(leases, request, response);
    else answerOthers(url, plural, request, response);
  }

  function answerOthers(url: URL, plural: string, request: IncomingMessage, response: ServerResponse): void {
    if (request.method === 'POST') request.resume().on('end', () => sendJson(response, { status: review }));
    else if (url.searchParams.get('watch') === 'true') openWatch(plural, response);
    else if (plural === 'pods' && isProtobuf(request.headers.accept)) sendPods(url, response, pods, message);
    else if (all[plural] === undefined) response.writeHead(404).end('{"kind":"Status","code":404}');
    else sendList(all[plural], url, response);
  }

  function openWatch(plural: string, response: ServerResponse): void {
    const open = watches.get(plural) ?? new Set();
    watches.set(plural, open.add(response));
    response.on('close', () => open.delete(response));
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  }

  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const modify = (plural: string, object: object): void => {
    for (const response of watches.get(plural) ?? [])
      response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  };
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pods, modify };
}

/** Grants each Lease to each process that asks, so that a process leads. */
async function keepLease(
  leases: Map<string, object>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const sent = (await json(request)) as { readonly metadata?: { readonly name?: string }; readonly spec?: object };
  const path = (request.url ?? '').split('?')[0] ?? '';
  const key = request.method === 'POST' ? `${path}/${sent.metadata?.name ?? ''}` : path;
  const metadata = { ...sent.metadata, name: key.split('/').at(-1), resourceVersion: String(performance.now()) };
  leases.set(key, { ...leases.get(key), ...sent, metadata });
  sendJson(response, leases.get(key) ?? {});
}

/** The common part of one owner's pods; about 2 KB of protocol buffers. */
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

type OwnerParts = ReturnType<typeof ownerParts>;

/** Pods of an owner are on different nodes, and have started at different times. */
function podMessage(index: number, owners: readonly OwnerParts[], nodes: number): Buffer {
  const own = owners[index % owners.length] as OwnerParts;
  const name = `web-${(index % owners.length).toString(36)}-${index.toString(36).padStart(10, '0')}`;
  const uid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  const metadata = encodeMessage(META, { name, uid, resourceVersion: String(index + 1) });
  const spec = bytesField(10, Buffer.from(`node-${index % nodes}`));
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

function commonLists(nodes: number): Lists {
  return {
    nodes: [nodes, rawNode],
    namespaces: [NAMESPACES, rawNamespace],
    priorityclasses: [5, rawClass],
    poddisruptionbudgets: [0, () => ({})],
  };
}

function sendPods(
  { searchParams }: URL,
  response: ServerResponse,
  pods: number,
  message: (index: number) => Buffer,
): void {
  const from = Number(searchParams.get('continue') ?? 0);
  const to = Math.min(pods, from + Number(searchParams.get('limit')));
  const token = to < pods ? [bytesField(3, Buffer.from(String(to)))] : [];
  const metadata = bytesField(1, Buffer.concat([bytesField(2, Buffer.from(String(pods + 1))), ...token]));
  const items = Array.from({ length: to - from }, (_, n) => bytesField(2, message(from + n)));
  response.writeHead(200, { 'content-type': PROTOBUF });
  response.end(encodeEnvelope('v1', 'PodList', Buffer.concat([metadata, ...items])));
}

function sendList([size, make]: Lists[string], { searchParams }: URL, response: ServerResponse): void {
  const from = Number(searchParams.get('continue') ?? 0);
  const to = Math.min(size, from + Number(searchParams.get('limit')));
  const metadata = { resourceVersion: '9', ...(to < size && { continue: String(to) }) };
  sendJson(response, { metadata, items: Array.from({ length: to - from }, (_, n) => make(from + n)) });
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
