import type { IncomingHttpHeaders } from 'node:http';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import {
  createTransport,
  type KubeRequest,
  type Transport,
  type ClusterConnection,
} from '#shared/kube/client/connection.ts';
import { linesOf } from './lines-of.ts';
import { eventually } from '#test/build/waiting.ts';

/** A Kubernetes API server to hold to the contract: the sandbox's, or a real one with its controllers. */
export interface ContractTarget {
  readonly kind: 'sandbox' | 'real';
  readonly connection: ClusterConnection;
}

/** One answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: unknown;
}

type Call = Omit<KubeRequest, 'path' | 'method' | 'body'>;

/** A namespace of its own on the target, and short ways to talk to it. */
export interface Harness {
  readonly target: ContractTarget;
  readonly client: KubeClient;
  readonly namespace: string;
  /** The path of a core/v1 collection or object in the namespace. */
  core(path: string): string;
  get(path: string, call?: Call): Promise<Answer>;
  post(path: string, body: unknown, call?: Call): Promise<Answer>;
  put(path: string, body: unknown, call?: Call): Promise<Answer>;
  patch(path: string, body: unknown, type: PatchType, call?: Call): Promise<Answer>;
  remove(path: string, body?: unknown, call?: Call): Promise<Answer>;
  /** The events of a watch until `count` came or the server ended it. */
  watch(path: string, query: KubeRequest['query'], count: number): Promise<WatchLine[]>;
}

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

export interface WatchLine {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

const PATCHES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** Registers hooks of the present `describe` that make and remove the namespace. */
export function contractHarness(target: () => ContractTarget): Harness {
  const namespace = uniqueName('contract');
  const open: { client?: KubeClient; transport?: Transport } = {};

  function transport(): Transport {
    return (open.transport ??= createTransport(target().connection, 'plimsoll-contract'));
  }

  async function send(request: KubeRequest): Promise<Answer> {
    const response = await transport().send(request, AbortSignal.timeout(30_000));
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    return { status: response.statusCode ?? 0, headers: response.headers, text, body: jsonOf(text) };
  }

  async function watch(path: string, query: KubeRequest['query'], count: number): Promise<WatchLine[]> {
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, AbortSignal.timeout(20_000)]);
    const response = await transport().send({ path, query: { watch: true, ...query } }, signal);
    response.on('error', () => undefined);
    const lines: string[] = [];
    for await (const line of linesOf(response)) {
      lines.push(line);
      if (lines.length >= count) break;
    }
    controller.abort();
    return lines.map((line) => JSON.parse(line) as WatchLine);
  }

  beforeAll(async () => {
    const made = await send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
    expect(made.status).toBe(201);
    // The real ServiceAccount admission refuses pods until the controller has made the account.
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    if (target().kind === 'real')
      await eventually(async () => expect((await send({ path: account })).status).toBe(200));
  });
  afterAll(async () => {
    await send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    open.client?.close();
    open.transport?.close();
  });

  return {
    get target() {
      return target();
    },
    get client() {
      return (open.client ??= createClient(target().connection, { userAgent: 'plimsoll-contract' }));
    },
    namespace,
    core: (path) => `/api/v1/namespaces/${namespace}/${path}`,
    get: (path, call) => send({ ...call, path }),
    post: (path, body, call) => send({ ...call, method: 'POST', path, body }),
    put: (path, body, call) => send({ ...call, method: 'PUT', path, body }),
    patch: (path, body, type, call) => send({ contentType: PATCHES[type], ...call, method: 'PATCH', path, body }),
    remove: (path, body, call) => send({ ...call, method: 'DELETE', path, body }),
    watch,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A name that no other run uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/** The value at a dotted path of a decoded answer: `metadata.uid`, `items.0.metadata.name`. */
export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((held, key) => {
    return typeof held === 'object' && held !== null ? (held as Record<string, unknown>)[key] : undefined;
  }, value);
}

/** As `at`, for a text that must be there. */
export function textAt(value: unknown, path: string): string {
  const text = at(value, path);
  if (typeof text !== 'string') throw new Error(`expected a text at ${path} of ${JSON.stringify(value)}`);
  return text;
}

/** The names of a list's items, in its order. */
export function namesOf({ body }: Answer): readonly string[] {
  const items = at(body, 'items');
  return Array.isArray(items) ? items.map((item) => textAt(item, 'metadata.name')) : [];
}

/** The Status object of a refusal. */
export function refusal(code: number, reason: string, message: unknown): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message };
}

/** A ConfigMap with one entry. */
export function configMap(name: string, labels: Readonly<Record<string, string>> = {}, value = '1'): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { value } };
}

/** The smallest pod that the API server takes; deletes at once, as no kubelet ends it, and is no scheduler's business. */
export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      schedulerName: 'none',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'registry.test/idle:1' }],
      ...spec,
    },
  };
}
