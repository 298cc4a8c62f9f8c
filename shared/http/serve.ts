import type { Server as NodeServer } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { hostPort } from '#shared/runtime/host-port.ts';
import { nodeHttp } from '#shared/runtime/read-bytes.ts';
import { ALL_ADDRESSES, ownAddress } from './addresses.ts';
import { answerWith, endHandshake, type Handler, limitConnections, refuseBrokenRequests } from './connections.ts';

export interface TlsOptions {
  readonly certPem: string;
  readonly keyPem: string;
  /** If set, clients must present a certificate signed by one of these authorities. */
  readonly clientCaPem?: string;
}

export interface ServeOptions {
  readonly handler: Handler;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Without it the server speaks plain HTTP. */
  readonly tls?: TlsOptions;
  /** Callers (Go) keep idle connections for 90 s; closing first would make them race. */
  readonly keepAliveMs?: number;
  /** Maximum time for a whole request to arrive, from its first byte. */
  readonly requestTimeoutMs?: number;
  /** Maximum time for a TLS handshake; default 10 s. */
  readonly handshakeTimeoutMs?: number;
  /** How long `close` waits for open requests before it cuts them off. */
  readonly drainMs?: number;
  /** Maximum number of connections; above it, a connection without a request is closed. Default 128. */
  readonly maxConnections?: number;
}

export interface Server {
  readonly port: number;
  readonly url: string;
  /** The address to reach this process by: not every platform can connect to a wildcard address. */
  readonly ownAddress: string;
  /** New connections get the new certificate; open ones keep theirs. Throws on a plain server. */
  setCertificate(tls: TlsOptions): void;
  /**
   * From now on each response ends its connection, while new connections are still accepted. So callers leave on their
   * own, and `close` finds few connections with open requests.
   */
  stopKeepingAlive(): void;
  /** Stops listening, lets open requests finish, then ends every connection. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 128;
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_CONNECTIONS_EVERY_MS = 2_000;
const CLOSE_IDLE_EVERY_MS = 20;

/** Starts listening; rejects with a one-sentence error if the port is not available. */
export async function serve(options: ServeOptions): Promise<Server> {
  const { tls, host, drainMs = 10_000 } = options;
  const server =
    tls === undefined
      ? nodeHttp.createServer(timeouts(options))
      : createTlsServer({ ...timeouts(options), ...secure(tls) }).on('tlsClientError', endHandshake);
  const endConnections = limitConnections(server, options.maxConnections ?? MAX_CONNECTIONS);
  server.keepAliveTimeout = options.keepAliveMs ?? 95_000;
  const keeping = { isKept: true };
  answerWith(server, options.handler, keeping);
  refuseBrokenRequests(server, server.keepAliveTimeout);
  await listenAnywhere(server, host, options.port);
  const { port, address } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://${hostPort(address, port)}`,
    ownAddress: ownAddress(address, networkInterfaces()),
    setCertificate: (next) => replaceCertificate(server, next),
    stopKeepingAlive: () => {
      keeping.isKept = false;
    },
    close: () => drain(server, endConnections, drainMs),
  };
}

function timeouts({ requestTimeoutMs = 10_000, handshakeTimeoutMs = 10_000 }: ServeOptions) {
  return {
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    handshakeTimeout: handshakeTimeoutMs,
    connectionsCheckingInterval: CHECK_CONNECTIONS_EVERY_MS,
    noDelay: true,
  };
}

function secure({ certPem, keyPem, clientCaPem }: TlsOptions) {
  return {
    cert: certPem,
    key: keyPem,
    minVersion: 'TLSv1.2' as const,
    // The API server speaks HTTP/1.1 to webhooks.
    ALPNProtocols: ['http/1.1'],
    ...(clientCaPem !== undefined && { ca: clientCaPem, requestCert: true, rejectUnauthorized: true }),
  };
}

function replaceCertificate(server: NodeServer | TlsServer, tls: TlsOptions): void {
  if (!('setSecureContext' in server)) throw new Error('cannot set a certificate: this server speaks plain HTTP');
  server.setSecureContext(secure(tls));
}

const WITHOUT_FAMILY: readonly unknown[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];
/** The same in the other family, for a machine that has only that one. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  [ALL_ADDRESSES, '0.0.0.0'],
  ['127.0.0.1', '::1'],
]);

async function listenAnywhere(server: NodeServer, host: string, port: number): Promise<void> {
  try {
    await listen(server, host, port);
  } catch (error) {
    const isWithoutFamily = error instanceof Error && WITHOUT_FAMILY.includes(fieldOfCause(error));
    const instead = INSTEAD.get(host);
    if (instead === undefined || !isWithoutFamily) throw error;
    await listen(server, instead, port);
  }
}

function fieldOfCause({ cause }: Error): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}

function listen(server: NodeServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: 'the port is in use',
    EACCES: 'not allowed for this user',
    EADDRNOTAVAIL: 'this machine does not have the address',
  };
  const why = known[error.code ?? ''] ?? error.message;
  return new Error(`cannot listen on "${hostPort(host, port)}": ${why}`, { cause: error });
}

async function drain(server: NodeServer, endConnections: () => void, drainMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const cut = setTimeout(endConnections, drainMs);
  // Otherwise a connection that becomes idle now would stay for the whole keep-alive time.
  const sweep = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  server.closeIdleConnections();
  await closed;
  clearTimeout(cut);
  clearInterval(sweep);
}
