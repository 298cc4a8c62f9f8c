import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { KubeConfig, PortForward } from '@kubernetes/client-node';
import { errorText } from '#shared/runtime/describe-error.ts';
import { InputError } from '#cli/process-io.ts';
import { cannotListen } from './messages.ts';

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

interface Forwarding {
  readonly config: KubeConfig;
  /** Called for each connection, because the pod may have changed. */
  readonly target: () => Promise<PodPort>;
  readonly onFailure: (cause: string) => void;
}

interface LocalPort {
  readonly port: number;
  readonly listener: Server;
}

const LOOPBACK = '127.0.0.1';

/**
 * Listens on a port of this machine, 0 for any, and forwards each connection to a pod through the API server. Rejects
 * with an InputError if the port cannot be used.
 */
export async function forwardPort(port: number, forwarding: Forwarding): Promise<LocalPort> {
  const library = await import('@kubernetes/client-node');
  const forward = new library.PortForward(forwarding.config);
  const listener = createServer((socket) => {
    connect(forward, socket, forwarding).catch((error: unknown) => {
      socket.destroy();
      forwarding.onFailure(causeOf(error));
    });
  });
  listener.listen(port, LOOPBACK);
  await once(listener, 'listening').catch((error: unknown) => {
    throw new InputError(cannotListen(port, errorText(error)), { cause: error });
  });
  return { port: (listener.address() as AddressInfo).port, listener };
}

async function connect(forward: PortForward, socket: Socket, { target, onFailure }: Forwarding): Promise<void> {
  // A browser that gives up ends its connection with an error.
  socket.on('error', () => socket.destroy());
  const { namespace, pod, port } = await target();
  const errors = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (chunk.length > 0) onFailure(chunk.toString('utf8'));
      done();
    },
  });
  const tunnel = await forward.portForward(namespace, pod, [port], socket, errors, socket);
  if (typeof tunnel === 'function') return;
  tunnel.onclose = () => socket.destroy();
  socket.on('close', () => tunnel.close());
}

/** The message of the web socket's own error event. */
function causeOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' ? message : errorText(error);
}
