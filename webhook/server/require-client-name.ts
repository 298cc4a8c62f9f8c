import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { endIfUnread } from '#shared/http/linger.ts';
import { failureStatus } from '#shared/http/status.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Accepts only clients whose certificate has one of these common names; all others get 403 before the body is read.
 * The TLS handshake has verified the certificate. An empty list accepts every client.
 */
export function requireClientName(names: readonly string[], handler: Handler): Handler {
  if (names.length === 0) return handler;
  const allowed = new Set(names);
  const verdicts = new WeakMap<object, boolean>();
  return (request, response) => {
    const { socket } = request;
    const isAllowed = verdicts.get(socket) ?? allowed.has(callerOf(socket) ?? '');
    verdicts.set(socket, isAllowed);
    if (isAllowed) handler(request, response);
    else refuse(response);
  };
}

/** The common name, which Kubernetes also uses as the user name of a client certificate. */
function callerOf(socket: unknown): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const subject = socket.getPeerX509Certificate()?.subject ?? '';
  return /^CN=(.*)$/m.exec(subject)?.[1];
}

function refuse(response: ServerResponse): void {
  const body = JSON.stringify(
    failureStatus(403, 'Forbidden: the common name of the client certificate is not in clientNames'),
  );
  endIfUnread(response);
  response.writeHead(403, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(body)]);
  response.end(body);
}
