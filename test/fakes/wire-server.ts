import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type WireHandler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A bare HTTP server on loopback whose every byte a test decides. */
export interface WireServer {
  readonly url: string;
  readonly requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export async function wireServer(
  handler: WireHandler,
  tls?: { readonly certPem: string; readonly keyPem: string },
): Promise<WireServer> {
  const requests: WireServer['requests'] = [];
  const listener: RequestListener = (request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handler(request, response, Buffer.concat(chunks).toString('utf8')));
  };
  const server =
    tls === undefined ? createServer(listener) : createTlsServer({ cert: tls.certPem, key: tls.keyPem }, listener);
  let connections = 0;
  server.on(tls === undefined ? 'connection' : 'secureConnection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
