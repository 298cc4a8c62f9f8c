import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One address in front of several servers, as a Service is. */
export interface Spread {
  readonly port: number;
  /** The targets of new connections, round robin. */
  to(ports: readonly number[]): void;
  close(): Promise<void>;
}

/** Listens on loopback and forwards bytes unchanged, so TLS ends at the servers. */
export async function spread(): Promise<Spread> {
  const open = new Set<Socket>();
  let targets: readonly number[] = [];
  let turn = 0;

  function carry(caller: Socket): void {
    const port = targets[(turn += 1) % targets.length];
    if (port === undefined) return void caller.destroy();
    const server = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [caller, server],
      [server, caller],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }

  const listener = createServer(carry).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    to: (ports) => {
      targets = ports;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
