import https from 'node:https';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type FileFollower, followCertificates } from '#shared/runtime/certificate-file.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { hostPort } from '#shared/runtime/host-port.ts';
import { nodeHttp } from '#shared/runtime/read-bytes.ts';
import { type Impersonation, impersonationHeaders } from './impersonation.ts';

/** The address of the API server and our credentials. Certificates and keys are PEM text. */
export interface ClusterConnection {
  /** `https://host:port`; plain http is accepted for loopback only. */
  readonly server: string;
  readonly ca?: string;
  /** The file that the CA was read from, if any; clients follow it. */
  readonly caFile?: string;
  /** Called before every request, because mounted tokens rotate. */
  readonly token?: () => Promise<string>;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  /** The files of the certificate and its key, if it was read from files; read again each minute, because they rotate. */
  readonly clientFiles?: { readonly certificateFile: string; readonly keyFile: string };
  /** Certificate and key of a plugin that renews them; called before every request. */
  readonly clientIdentity?: () => Promise<ClientIdentity>;
  /** `user:password`. */
  readonly basicAuth?: string;
  /** Called when the API server does not accept the credentials. */
  readonly onUnauthorized?: () => void;
  /** Name to verify the server's certificate against, if it differs from the host. */
  readonly serverName?: string;
  /** The context and the cluster in the kubeconfig, if the connection is from one. */
  readonly origin?: { readonly context: string; readonly cluster: string };
  /** The namespace of this process. */
  readonly namespace?: string;
  /** The user to impersonate; needs permission to impersonate. */
  readonly impersonate?: Impersonation;
  /** Connects through the proxy of the kubeconfig or the environment. */
  readonly proxyAgent?: Agent;
  /** Set only by a kubeconfig with `insecure-skip-tls-verify`. */
  readonly skipTlsVerify?: boolean;
}

interface ClientIdentity {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

export const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const ENVIRONMENT_NAMES = 'PLIMSOLL_SERVER, PLIMSOLL_TOKEN_FILE and PLIMSOLL_CA_FILE';

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A connection from plain values: an address, a bearer token and the server's CA as PEM text. */
export function directConnection(direct: {
  readonly server: string;
  readonly token?: string;
  readonly ca?: string;
}): ClusterConnection {
  const { server, token, ca } = direct;
  return {
    server,
    ...(token === undefined ? {} : { token: () => Promise.resolve(token) }),
    ...(ca === undefined ? {} : { ca }),
  };
}

/**
 * The connection of a pod: mounted token (read again each minute, because it rotates), CA and namespace. Throws outside
 * a pod.
 */
export function inClusterConnection(env: Environment, directory = SERVICE_ACCOUNT): ClusterConnection {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined) throw new Error('not in a cluster: KUBERNETES_SERVICE_HOST is not set');
  return {
    server: `https://${hostPort(host, port)}`,
    ...authorityIn(`${directory}/ca.crt`),
    token: tokenFromFile(`${directory}/token`),
    namespace: readFileSync(`${directory}/namespace`, 'utf8').trim(),
  };
}

/** The connection that the sandbox passed to this child process; undefined if the environment has none. */
export function environmentConnection(env: Environment): ClusterConnection | undefined {
  const server = env['PLIMSOLL_SERVER'];
  const tokenFile = env['PLIMSOLL_TOKEN_FILE'];
  const caFile = env['PLIMSOLL_CA_FILE'];
  if (server === undefined && tokenFile === undefined && caFile === undefined) return undefined;
  if (server === undefined || tokenFile === undefined || caFile === undefined) {
    throw new Error(`cannot use the connection in the environment: set ${ENVIRONMENT_NAMES} together`);
  }
  return { server, ...authorityIn(caFile), token: tokenFromFile(tokenFile) };
}

function authorityIn(caFile: string): Pick<ClusterConnection, 'ca' | 'caFile'> {
  return { ca: readFileSync(caFile, 'utf8'), caFile };
}

const TOKEN_LIFE_MS = 60_000;

/** Reads a token file at most once a minute; the kubelet replaces it well before it expires. */
export function tokenFromFile(path: string): () => Promise<string> {
  return eachMinute(async () => (await readFile(path, 'utf8')).trim());
}

function eachMinute<T>(read: () => Promise<T>): () => Promise<T> {
  let latest: { readonly value: T; readonly at: number } | undefined;
  return async () => {
    if (latest === undefined || performance.now() - latest.at >= TOKEN_LIFE_MS)
      latest = { value: await read(), at: performance.now() };
    return latest.value;
  };
}

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

/**
 * The transport to one server. Throws if the address is not a URL, or is plain http to another machine without a
 * kubeconfig that says so.
 */
export function createTransport(
  connection: ClusterConnection,
  userAgent: string,
  follower: FileFollower = { clock: systemClock },
): Transport {
  const base = serverUrl(connection);
  const secure = base.protocol === 'https:';
  const agent = connection.proxyAgent ?? (secure ? secureAgent(connection) : plainAgent());
  const identity = identityOf(connection);
  const start = secure ? https.request : nodeHttp.request;
  const authority = authorityOf(connection, follower);

  async function send(request: KubeRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const body = encodeBody(request.body);
    const headers = await headersFor({ connection, userAgent, request, body });
    const tls = secure ? { ca: authority(), ...(await identity()) } : {};
    const options: https.RequestOptions = { agent, method: request.method ?? 'GET', headers, signal, ...tls };
    const response = await exchange(() => start(targetUrl(base, request), options), body);
    if (response.statusCode === UNAUTHORIZED) connection.onUnauthorized?.();
    return response;
  }
  return { send, close: () => agent.destroy() };
}

function serverUrl({ server, origin }: ClusterConnection): URL {
  if (!URL.canParse(server)) throw new Error(`cannot use API server address "${server}": expected https://host:port`);
  const url = new URL(server);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && (isLoopback || origin !== undefined)) return url;
  throw new Error(`cannot use API server address "${server}": expected https, or http on this machine only`);
}

/** The CA for new connections. A CA file is followed, because the cluster renews it while the process runs. */
function authorityOf({ ca, caFile }: ClusterConnection, follower: FileFollower): () => string | undefined {
  return ca === undefined || caFile === undefined ? () => ca : followCertificates(caFile, follower, ca);
}

const UNAUTHORIZED = 401;

function plainAgent(): InstanceType<typeof nodeHttp.Agent> {
  return new nodeHttp.Agent({ keepAlive: true, timeout: IDLE_MS });
}

/** The client certificate for new connections. */
function identityOf(connection: ClusterConnection): () => Promise<Partial<ClientIdentity>> {
  const { clientIdentity, clientFiles, clientCertificate: cert, clientKey: key } = connection;
  if (clientIdentity !== undefined) return clientIdentity;
  const fixed: Partial<ClientIdentity> = { ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  if (clientFiles === undefined) return () => Promise.resolve(fixed);
  const read = eachMinute(async () => ({
    cert: await readFile(clientFiles.certificateFile, 'utf8'),
    key: await readFile(clientFiles.keyFile, 'utf8'),
  }));
  return () => read().catch(() => fixed);
}

/** Without the CA and the certificate, which are set per request: options of the agent would override them. */
function secureAgent(connection: ClusterConnection): https.Agent {
  return new https.Agent({
    keepAlive: true,
    timeout: IDLE_MS,
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
  return {
    accept: request.accept ?? 'application/json',
    'user-agent': userAgent,
    ...(await requestCredentials(connection)),
    ...(body === undefined ? {} : bodyHeaders(request, body)),
  };
}

/** The headers that say who sends a request, and for whom. */
export async function requestCredentials(connection: ClusterConnection): Promise<OutgoingHttpHeaders> {
  const token = (await connection.token?.()) ?? '';
  const { basicAuth } = connection;
  return {
    ...(basicAuth === undefined ? {} : { authorization: `Basic ${Buffer.from(basicAuth).toString('base64')}` }),
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...impersonationHeaders(connection.impersonate),
  };
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
