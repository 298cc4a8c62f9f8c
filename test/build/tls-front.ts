import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:tls';
import { type CertificatePair, issueServerCertificate } from '#shared/http/certificates.ts';

/** Stands before an API server, with a certificate of another CA. */
export interface TlsFront {
  readonly url: string;
  /** From now on its certificate is of this CA; open connections end, as in a restart. */
  readonly renew: (authority: CertificatePair) => void;
  readonly close: () => Promise<void>;
}

/** Passes everything on to an API server on loopback, and back. */
export async function startTlsFront(
  behind: { readonly server: string; readonly ca: string },
  authority: CertificatePair,
): Promise<TlsFront> {
  const open = new Set<Socket>();
  const server = createServer(tlsOf(authority), (socket) => {
    const onward = connect({ port: Number(new URL(behind.server).port), host: '127.0.0.1', ca: behind.ca });
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    renew: (next) => {
      server.setSecureContext(tlsOf(next));
      endAll();
    },
    close: async () => {
      endAll();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A certificate for loopback. */
export function tlsOf(authority: CertificatePair): { readonly cert: string; readonly key: string } {
  const names = { dnsNames: [], ipAddresses: ['127.0.0.1'] };
  const { certPem: cert, keyPem: key } = issueServerCertificate(authority, { ...names, days: 1, now: Date.now() });
  return { cert, key };
}
