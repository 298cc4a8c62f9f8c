import { once } from 'node:events';
import { connect } from 'node:tls';

/** The fingerprint of the certificate that is served on a port of this machine. */
export async function servedCertificate(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
