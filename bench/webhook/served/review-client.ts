import { connect, type TLSSocket } from 'node:tls';

/**
 * A kept TLS connection that sends one prepared request at a time; as cheap as possible, because it shares the machine.
 */
export interface ReviewClient {
  /** Resolves with the status code once the whole answer has arrived; 403 for a review that is refused. */
  send(request: Buffer): Promise<number>;
  close(): void;
}

const HEAD_END = Buffer.from('\r\n\r\n');

export async function reviewClient(port: number): Promise<ReviewClient> {
  // The benchmark trusts whatever it started itself.
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  let received: Buffer = Buffer.alloc(0);
  let done: ((status: number) => void) | undefined;
  let failed: ((error: Error) => void) | undefined;
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const status = completeStatus(received);
    if (status === undefined) return;
    received = Buffer.alloc(0);
    done?.(status);
  });
  socket.on('close', () => failed?.(new Error('connection closed')));
  return { send: (request) => exchange(socket, request), close: () => socket.destroy() };

  function exchange(to: TLSSocket, request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      done = resolve;
      failed = reject;
      to.write(request);
    });
  }
}

/** The bytes of a POST with this body. */
export function postRequest(path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** The status code, once head and body are complete: refusals cost more, and are not what is measured. */
function completeStatus(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length < headEnd + HEAD_END.length + length) return undefined;
  return bytes.includes('"allowed":false') ? 403 : Number(head.slice(9, 12));
}
