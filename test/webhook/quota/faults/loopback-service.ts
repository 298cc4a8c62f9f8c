import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a Service is to an API server: one address, behind it whichever replicas are ready. */
export interface LoopbackService {
  readonly port: number;
  /** From now on connections may go there. */
  add(port: number): void;
  /** No new connections; open ones stay until the replica ends them. */
  remove(port: number): void;
  readonly ready: number;
  close(): Promise<void>;
}

/**
 * Forwards TCP to the replica with the fewest connections. A connection stays with its replica; when that dies, it is
 * reset, and without any ready replica it is reset at once.
 */
export async function startLoopbackService(): Promise<LoopbackService> {
  const backends = new Map<number, Set<Socket>>();
  const open = new Set<Socket>();

  const server = createServer({ noDelay: true }, (caller) => {
    open.add(caller);
    caller.once('close', () => open.delete(caller)).on('error', () => undefined);
    const [first] = [...backends].sort(([, a], [, b]) => a.size - b.size);
    if (first === undefined) caller.resetAndDestroy();
    else forward(caller, ...first);
  });

  function forward(caller: Socket, port: number, connections: Set<Socket>): void {
    connections.add(caller);
    const replica = connect({ port, host: '127.0.0.1', noDelay: true });
    open.add(replica);
    const end = (): void => {
      connections.delete(caller);
      open.delete(replica);
      replica.destroy();
      caller.resetAndDestroy();
    };
    replica.once('close', end).on('error', () => undefined);
    caller.once('close', end);
    caller.pipe(replica);
    replica.pipe(caller);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    add: (port) => void backends.set(port, new Set()),
    remove: (port) => void backends.delete(port),
    get ready() {
      return backends.size;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
