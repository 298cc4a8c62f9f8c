import { isIP } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';
import { ERRORS } from '#webhook/messages.ts';

export interface HandshakeTarget {
  readonly host: string;
  readonly port: number;
  /** The name or address that the client expects in the certificate. */
  readonly serverName: string;
  /** PEM of the CAs that the client trusts; `undefined` means the system's CAs. */
  readonly caBundlePem: string | undefined;
}

const TIMEOUT_MS = 5_000;

/**
 * Why a client with this bundle does not trust the served certificate; `undefined` if it does. Rejects when the
 * connection fails, which says nothing about trust.
 */
export function handshakeProblem({
  host,
  port,
  serverName,
  caBundlePem,
}: HandshakeTarget): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      // SNI does not carry addresses, but the certificate is still checked for the address.
      ...(isIP(serverName) === 0 && { servername: serverName }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
      ca: caBundlePem,
      ALPNProtocols: ['http/1.1'],
      // With TLS 1.3 the server sends its certificate before it asks for ours, which we may not have.
      minVersion: 'TLSv1.3',
      // The result is read below, because an error here could also be a network error.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.on('secureConnect', () => {
      resolve(socket.authorized ? undefined : String(socket.authorizationError));
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy(new Error(ERRORS.noHandshake(TIMEOUT_MS))));
    socket.on('error', reject);
  });
}
