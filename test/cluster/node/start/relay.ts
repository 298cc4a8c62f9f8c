import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Address } from '#test/cluster/support/control-plane/control-plane-flags.ts';

/*
 * A process in a network namespace of its own cannot be reached from outside, and no link is laid to it, which would have
 * to be taken away again. It is handed a socket that listens outside, and keeps it.
 */

/** Opens a port on loopback and hands it to a child with an IPC channel; resolves with its number. */
export async function handPortTo(child: ChildProcess): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve, reject) => {
    child.send({ port }, server, (error) => (error === null ? resolve() : reject(error)));
  });
  server.close();
  return port;
}

/**
 * In the child: takes the port and leads every connection to a place in the own namespace. Resolves with its number;
 * rejects when the process that would hand it over is gone.
 */
export async function relayHandedPort(to: Address): Promise<number> {
  const gone = once(process, 'disconnect').then(() =>
    Promise.reject(new Error('no process is there to hand over a port')),
  );
  const [message, server] = (await Promise.race([once(process, 'message'), gone])) as [
    { readonly port: number },
    Server,
  ];
  // None of this keeps the process: it stays for a reason of its own, and ends when that ends.
  server.unref();
  server.on('connection', (socket) => join(socket.unref(), connect(to).unref()));
  process.disconnect();
  return message.port;
}

/** Either side may go first, politely or not. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [[one, other] as const, [other, one] as const]) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
