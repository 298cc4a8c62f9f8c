import { request as httpsRequest } from 'node:https';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createAuthority,
  issueClientCertificate,
  issueServerCertificate,
  type CertificatePair,
} from '#shared/http/certificates.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { requireClientName } from '#webhook/admission-port.ts';

const now = Date.now();
const authority = createAuthority({ commonName: 'ca', days: 1, now });
const leaf = issueServerCertificate(authority, { dnsNames: ['localhost'], ipAddresses: [], days: 1, now });
const byName = (commonName: string) => issueClientCertificate(authority, { commonName, days: 1, now });
describe('requireClientName', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function call(names: readonly string[], caller: CertificatePair): Promise<{ status: number; body: string }> {
    let bytesRead = 0;
    const handler = requireClientName(names, (request, response) => {
      request
        .on('data', (chunk: Buffer) => (bytesRead += chunk.length))
        .on('end', () => response.end(String(bytesRead)));
    });
    const tls = { certPem: leaf.certPem, keyPem: leaf.keyPem, clientCaPem: authority.certPem };
    server = await serve({ handler, host: '127.0.0.1', port: 0, tls });
    const { port } = server;
    return new Promise((resolve, reject) => {
      const { certPem: cert, keyPem: key } = caller;
      const options = { host: 'localhost', port, method: 'POST', ca: authority.certPem, cert, key, agent: false };
      const request = httpsRequest({ ...options, family: 4 }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
      request.on('error', reject).end('12345');
    });
  }

  const allowed: Record<string, { names: readonly string[]; caller: CertificatePair }> = {
    'every client when no names are set': { names: [], caller: byName('anybody') },
    'one of the names': { names: ['other', 'api'], caller: byName('api') },
  };
  test.each(Object.entries(allowed))('lets through %s', async (_, { names, caller }) => {
    expect(await call(names, caller)).toEqual({ status: 200, body: '5' });
  });

  const refused: Record<string, { names: readonly string[]; caller: CertificatePair }> = {
    'another name': { names: ['api'], caller: byName('kubelet') },
    'a name that only begins alike': { names: ['api'], caller: byName('api2') },
    'names inside the common name': { names: ['api'], caller: byName('x, CN=api') },
  };
  test.each(Object.entries(refused))('C-02: refuses %s before the body is read', async (_, { names, caller }) => {
    const { status, body } = await call(names, caller);
    expect({ status, message: (JSON.parse(body) as { message: string }).message }).toEqual({
      status: 403,
      message: 'Forbidden: the common name of the client certificate is not in clientNames',
    });
  });
});
