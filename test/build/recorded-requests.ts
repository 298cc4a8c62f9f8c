import { once } from 'node:events';
import { createServer, request as requestTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '#shared/http/certificates.ts';
import { tlsOf } from './tls-front.ts';

/** Stands before an API server and keeps what it was asked. */
export interface RecordedRequests {
  readonly url: string;
  readonly caPem: string;
  /** `METHOD path` of everything but reads, in order. */
  readonly writes: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Passes requests on to an API server, and answers as they come, watches included. */
export async function recordRequests(behind: {
  readonly server: string;
  readonly ca: string;
}): Promise<RecordedRequests> {
  const written: string[] = [];
  const authority = createAuthority({ commonName: 'test', days: 1, now: Date.now() });
  const server = createServer(tlsOf(authority), (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    if (method !== 'GET') written.push(`${method} ${url}`);
    const onward = requestTls(new URL(url, behind.server), { method, headers, ca: behind.ca }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    caPem: authority.certPem,
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes: () => written,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
