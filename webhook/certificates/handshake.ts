import { isIP } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';

export interface HandshakeTarget {
  readonly host: string;
  readonly port: number;
  /** The name or address that the caller expects to find in the certificate. */
  readonly serverName: string;
  /** PEM of what the caller trusts; `undefined` is what the machine trusts. */
  readonly caBundlePem: string | undefined;
}

const TIMEOUT_MS = 5_000;

/**
 * What keeps a caller with this bundle from trusting the certificate that is served; `undefined` when nothing does.
 * Rejects when nobody answers, which says nothing about trust.
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
      // An address is not sent, but looked for in the certificate all the same.
      ...(isIP(serverName) === 0 && { servername: serverName }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(serverName, certificate),
      ca: caBundlePem,
      ALPNProtocols: ['http/1.1'],
      // With 1.3 the server shows its certificate before it asks for ours, which we may not have.
      minVersion: 'TLSv1.3',
      // The verdict is read below, for an error here could as well be one of the network.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.on('secureConnect', () => {
      resolve(socket.authorized ? undefined : String(socket.authorizationError));
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy(new Error(`no handshake within ${TIMEOUT_MS} ms`)));
    socket.on('error', reject);
  });
}
