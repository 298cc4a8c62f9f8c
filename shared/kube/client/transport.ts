import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import { type FileFollower, followCertificates } from '#shared/runtime/certificate-file.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { nodeHttp } from '#shared/runtime/read-bytes.ts';
import type { ClusterConnection } from './connection.ts';

/** A request to the API server. `body` is sent as JSON, or unchanged if it is bytes. */
export interface KubeRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Entries that are undefined or false are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** For the whole response, or for a stream until its first byte. */
  readonly timeoutMs?: number;
}

/** One HTTP exchange at a time, on kept-alive connections. */
export interface Transport {
  /** Resolves with the head of the response; rejects if there is none. */
  send(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

/** kube-apiserver closes idle connections after 90 s; closing earlier avoids writing to a closing one. */
const IDLE_MS = 60_000;

/** The transport to one server. Throws if the address is not a URL, or is plain http to another machine. */
export function createTransport(
  connection: ClusterConnection,
  userAgent: string,
  follower: FileFollower = { clock: systemClock },
): Transport {
  const base = serverUrl(connection.server);
  const secure = base.protocol === 'https:';
  const agent = secure
    ? (connection.proxyAgent ?? secureAgent(connection))
    : new nodeHttp.Agent({ keepAlive: true, timeout: IDLE_MS });
  const start = secure ? https.request : nodeHttp.request;
  const authority = authorityOf(connection, follower);

  async function send(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const body = encodeBody(request.body);
    const headers = await headersFor({ connection, userAgent, request, body });
    const ca = secure ? authority() : undefined;
    const options: https.RequestOptions = { agent, method: request.method ?? 'GET', headers, signal, ca };
    return exchange(() => start(targetUrl(base, request), options), body);
  }
  return { send, close: () => agent.destroy() };
}

function serverUrl(server: string): URL {
  if (!URL.canParse(server)) throw new Error(`cannot use API server address "${server}": expected https://host:port`);
  const url = new URL(server);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url;
  throw new Error(`cannot use API server address "${server}": expected https, or http on this machine only`);
}

/** The CA for new connections. A CA file is followed, because the cluster renews it while the process runs. */
function authorityOf({ ca, caFile }: ClusterConnection, follower: FileFollower): () => string | undefined {
  return ca === undefined || caFile === undefined ? () => ca : followCertificates(caFile, follower, ca);
}

/** Without the CA, which is set per request: options of the agent would override it. */
function secureAgent(connection: ClusterConnection): https.Agent {
  return new https.Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    cert: connection.clientCertificate,
    key: connection.clientKey,
    rejectUnauthorized: connection.skipTlsVerify !== true,
    ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
  });
}

function targetUrl(base: URL, { path, query = {} }: KubeRequest): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}${path}`;
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== false) url.searchParams.set(key, String(value));
  }
  return url;
}

function encodeBody(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(JSON.stringify(body));
}

interface Outgoing {
  readonly connection: ClusterConnection;
  readonly userAgent: string;
  readonly request: KubeRequest;
  readonly body: Uint8Array | undefined;
}

async function headersFor({ connection, userAgent, request, body }: Outgoing): Promise<OutgoingHttpHeaders> {
  const token = (await connection.token?.()) ?? '';
  return {
    accept: request.accept ?? 'application/json',
    'user-agent': userAgent,
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...impersonationHeaders(connection),
    ...(body === undefined ? {} : bodyHeaders(request, body)),
  };
}

function impersonationHeaders({ impersonate }: ClusterConnection): OutgoingHttpHeaders {
  if (impersonate === undefined) return {};
  const { user, groups } = impersonate;
  return { 'impersonate-user': user, ...(groups.length > 0 && { 'impersonate-group': [...groups] }) };
}

function bodyHeaders(request: KubeRequest, body: Uint8Array): Record<string, string> {
  return { 'content-type': request.contentType ?? 'application/json', 'content-length': String(body.length) };
}

/**
 * A read that hits connections which the server has just closed is retried until it gets a new one; a write is never
 * retried.
 */
async function exchange(start: () => ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  const request = start();
  try {
    return await answerOf(request, body);
  } catch (error) {
    if (request.method !== 'GET' || !request.reusedSocket || !isReset(error)) throw error;
    return exchange(start, body);
  }
}

function answerOf(request: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
